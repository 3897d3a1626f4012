import type { MailMessages } from './en.js';

export const JA: MailMessages = {
  'invitation.subject': '{product}のアプリケーションへの招待',
  'invitation.owner':
    '{inviter}さんが、{product}のアプリケーション「{application}」を所有者として管理するよう、あなたを招待しています。承諾するには、このリンクを開いてログインしてください。',
  'invitation.tester':
    '{inviter}さんが、{product}のアプリケーション「{application}」を承認前にテストするよう、あなたを招待しています。承諾するには、このリンクを開いてログインしてください。',
  'invitation.note':
    'リンクは{date}まで、1回だけ使えます。上の名前は招待した人が決めたものです。心当たりがない場合は、リンクを開かないでください。このメールを報告するには、返信してください。',
  'question.subject': '「{application}」についての質問',
  'question.text':
    '{product}のアプリケーション「{application}」の審査担当者から質問があります。次のページで回答してください。',
  'approved.subject': '「{application}」の申請が承認されました',
  'approved.text': '{product}のアプリケーション「{application}」の申請が承認されました。',
  'rejected.subject': '「{application}」の申請が却下されました',
  'rejected.text':
    '{product}のアプリケーション「{application}」の申請が却下されました。理由は次のページをご覧ください。',
  'secret_expires.subject': '「{application}」のクライアントシークレットは{date}に期限切れになります',
  'secret_expires.text':
    '{product}のアプリケーション「{application}」のクライアントシークレットは{date}に期限切れになります。次のページで新しいシークレットを作成し、その日までにアプリケーションで使用してください。',
  'secret_expired.subject': '「{application}」のクライアントシークレットは期限切れです',
  'secret_expired.text':
    '{product}のアプリケーション「{application}」のクライアントシークレットは{date}に期限切れになりました。このシークレットを使うリクエストは拒否されます。まだ使用している場合は、次のページで新しいシークレットを作成してください。',
  'receiver_paused.subject': '「{application}」へのイベントは一時停止中です',
  'receiver_paused.text':
    'アプリケーション「{application}」の受信側が1日間エラーになっているため、{product}はイベントまたはログアウトトークンの送信を一時停止しました。これらは1週間保持されます。受信側を修復してから、一時停止を解除してください。',
  'owner.note': 'あなたがこのアプリケーションの所有者であるため、このメールをお送りしています。',
};
