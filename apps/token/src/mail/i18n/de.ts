import type { MailMessages } from './en.js';

export const DE: MailMessages = {
  'invitation.subject': 'Einladung zu einer Anwendung bei {product}',
  'invitation.owner':
    '{inviter} lädt Sie ein, die Anwendung „{application}“ bei {product} als Inhaber mitzuverwalten. Um anzunehmen, öffnen Sie diesen Link und melden Sie sich an:',
  'invitation.tester':
    '{inviter} lädt Sie ein, die Anwendung „{application}“ bei {product} vor ihrer Freigabe zu testen. Um anzunehmen, öffnen Sie diesen Link und melden Sie sich an:',
  'invitation.note':
    'Der Link gilt einmal, bis zum {date}. Die Namen oben hat die Person gewählt, die Sie einlädt. Wenn Sie diese Person nicht kennen, öffnen Sie den Link nicht. Um diese Nachricht zu melden, antworten Sie darauf.',
  'question.subject': 'Eine Frage zu „{application}“',
  'question.text':
    'Der Prüfer von „{application}“ bei {product} hat eine Frage. Beantworten Sie sie auf dieser Seite:',
  'approved.subject': 'Ihre Anfrage für „{application}“ ist genehmigt',
  'approved.text': 'Ihre Anfrage für die Anwendung „{application}“ bei {product} ist genehmigt:',
  'rejected.subject': 'Ihre Anfrage für „{application}“ ist abgelehnt',
  'rejected.text':
    'Ihre Anfrage für die Anwendung „{application}“ bei {product} ist abgelehnt. Die Begründung steht auf dieser Seite:',
  'secret_expires.subject': 'Ein Client-Secret von „{application}“ läuft am {date} ab',
  'secret_expires.text':
    'Ein Client-Secret der Anwendung „{application}“ bei {product} läuft am {date} ab. Erstellen Sie auf dieser Seite ein neues, und verwenden Sie es vor diesem Tag in der Anwendung:',
  'secret_expired.subject': 'Ein Client-Secret von „{application}“ ist abgelaufen',
  'secret_expired.text':
    'Ein Client-Secret der Anwendung „{application}“ bei {product} ist am {date} abgelaufen. Anfragen mit diesem Secret werden abgelehnt. Wenn die Anwendung es noch verwendet, erstellen Sie auf dieser Seite ein neues:',
  'receiver_paused.subject': 'Ereignisse für „{application}“ sind angehalten',
  'receiver_paused.text':
    'Der Empfänger der Anwendung „{application}“ antwortet seit einem Tag nicht richtig. Deshalb hat {product} seine Ereignisse oder Logout-Tokens angehalten. Sie warten eine Woche. Reparieren Sie den Empfänger, und beenden Sie dann die Pause:',
  'owner.note': 'Sie erhalten diese Nachricht, weil Sie Inhaber dieser Anwendung sind.',
};
