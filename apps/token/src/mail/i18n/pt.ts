import type { MailMessages } from './en.js';

export const PT: MailMessages = {
  'invitation.subject': 'Convite para um aplicativo em {product}',
  'invitation.owner':
    '{inviter} convida você a gerenciar o aplicativo “{application}” em {product}, como um dos proprietários. Para aceitar, abra este link e entre na sua conta:',
  'invitation.tester':
    '{inviter} convida você a testar o aplicativo “{application}” em {product} antes da aprovação. Para aceitar, abra este link e entre na sua conta:',
  'invitation.note':
    'O link funciona uma única vez, até {date}. Quem convidou você escolheu os nomes acima. Se você não conhece essa pessoa, não abra o link. Para denunciar esta mensagem, responda a ela.',
  'question.subject': 'Uma pergunta sobre “{application}”',
  'question.text': 'O revisor de “{application}” em {product} tem uma pergunta. Responda nesta página:',
  'approved.subject': 'Sua solicitação para “{application}” foi aprovada',
  'approved.text': 'Sua solicitação para o aplicativo “{application}” em {product} foi aprovada:',
  'rejected.subject': 'Sua solicitação para “{application}” foi rejeitada',
  'rejected.text':
    'Sua solicitação para o aplicativo “{application}” em {product} foi rejeitada. Esta página mostra o motivo:',
  'secret_expires.subject': 'Um segredo de cliente de “{application}” expira em {date}',
  'secret_expires.text':
    'Um segredo de cliente do aplicativo “{application}” em {product} expira em {date}. Crie um novo segredo nesta página e use-o no aplicativo antes desse dia:',
  'secret_expired.subject': 'Um segredo de cliente de “{application}” expirou',
  'secret_expired.text':
    'Um segredo de cliente do aplicativo “{application}” em {product} expirou em {date}. Solicitações com esse segredo são recusadas. Se o aplicativo ainda o usa, crie um novo nesta página:',
  'receiver_paused.subject': 'Os eventos para “{application}” estão pausados',
  'receiver_paused.text':
    'O receptor do aplicativo “{application}” está falhando há um dia, por isso {product} pausou seus eventos ou tokens de logout. Eles esperam uma semana. Conserte o receptor e depois encerre a pausa:',
  'owner.note': 'Você recebe esta mensagem porque é proprietário deste aplicativo.',
};
