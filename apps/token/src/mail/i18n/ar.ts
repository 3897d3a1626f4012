import type { MailMessages } from './en.js';

export const AR: MailMessages = {
  'invitation.subject': 'دعوة إلى تطبيق في {product}',
  'invitation.owner':
    'يدعوك {inviter} إلى إدارة التطبيق «{application}» في {product} بصفتك أحد مالكيه. للقبول، افتح هذا الرابط وسجّل الدخول:',
  'invitation.tester':
    'يدعوك {inviter} إلى اختبار التطبيق «{application}» في {product} قبل الموافقة عليه. للقبول، افتح هذا الرابط وسجّل الدخول:',
  'invitation.note':
    'يعمل الرابط مرة واحدة حتى {date}. الشخص الذي دعاك هو من اختار الأسماء أعلاه. إذا كنت لا تعرف هذا الشخص، فلا تفتح الرابط. للإبلاغ عن هذه الرسالة، قم بالرد عليها.',
  'question.subject': 'سؤال حول «{application}»',
  'question.text': 'لدى مراجع التطبيق «{application}» في {product} سؤال. أجب عنه في هذه الصفحة:',
  'approved.subject': 'تمت الموافقة على طلبك للتطبيق «{application}»',
  'approved.text': 'تمت الموافقة على طلبك للتطبيق «{application}» في {product}:',
  'rejected.subject': 'رُفض طلبك للتطبيق «{application}»',
  'rejected.text': 'رُفض طلبك للتطبيق «{application}» في {product}. تجد السبب في هذه الصفحة:',
  'secret_expires.subject': 'تنتهي صلاحية سر عميل للتطبيق «{application}» في {date}',
  'secret_expires.text':
    'تنتهي صلاحية سر عميل للتطبيق «{application}» في {product} في {date}. أنشئ سرًا جديدًا في هذه الصفحة، واستخدمه في التطبيق قبل ذلك اليوم:',
  'secret_expired.subject': 'انتهت صلاحية سر عميل للتطبيق «{application}»',
  'secret_expired.text':
    'انتهت صلاحية سر عميل للتطبيق «{application}» في {product} في {date}. تُرفض الطلبات التي تستخدم هذا السر. إذا كان التطبيق ما زال يستخدمه، فأنشئ سرًا جديدًا في هذه الصفحة:',
  'receiver_paused.subject': 'أُوقفت أحداث التطبيق «{application}» مؤقتًا',
  'receiver_paused.text':
    'يفشل مستقبل التطبيق «{application}» منذ يوم، لذلك أوقف {product} أحداثه أو رموز تسجيل الخروج مؤقتًا. وهي محفوظة لمدة أسبوع. أصلح المستقبل، ثم أنهِ الإيقاف:',
  'owner.note': 'تصلك هذه الرسالة لأنك أحد مالكي هذا التطبيق.',
};
