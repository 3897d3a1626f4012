import type { MailMessages } from './en.js';

export const FR: MailMessages = {
  'invitation.subject': 'Invitation à une application de {product}',
  'invitation.owner':
    '{inviter} vous invite à gérer l’application « {application} » sur {product}, comme propriétaire. Pour accepter, ouvrez ce lien et connectez-vous :',
  'invitation.tester':
    '{inviter} vous invite à tester l’application « {application} » sur {product} avant son approbation. Pour accepter, ouvrez ce lien et connectez-vous :',
  'invitation.note':
    'Le lien fonctionne une seule fois, jusqu’au {date}. La personne qui vous invite a choisi les noms ci-dessus. Si vous ne la connaissez pas, n’ouvrez pas le lien. Pour signaler ce message, répondez-y.',
  'question.subject': 'Une question sur « {application} »',
  'question.text':
    'La personne qui examine « {application} » sur {product} a une question. Répondez-y sur cette page :',
  'approved.subject': 'Votre demande pour « {application} » est approuvée',
  'approved.text': 'Votre demande pour l’application « {application} » sur {product} est approuvée :',
  'rejected.subject': 'Votre demande pour « {application} » est refusée',
  'rejected.text':
    'Votre demande pour l’application « {application} » sur {product} est refusée. Cette page en donne la raison :',
  'secret_expires.subject': 'Un secret client de « {application} » expire le {date}',
  'secret_expires.text':
    'Un secret client de l’application « {application} » sur {product} expire le {date}. Créez un nouveau secret sur cette page et utilisez-le dans l’application avant ce jour :',
  'secret_expired.subject': 'Un secret client de « {application} » a expiré',
  'secret_expired.text':
    'Un secret client de l’application « {application} » sur {product} a expiré le {date}. Les requêtes avec ce secret sont refusées. Si l’application l’utilise encore, créez-en un nouveau sur cette page :',
  'receiver_paused.subject': 'Les événements pour « {application} » sont suspendus',
  'receiver_paused.text':
    'Le récepteur de l’application « {application} » est en échec depuis un jour ; {product} a donc suspendu ses événements ou ses jetons de déconnexion. Ils attendent une semaine. Réparez le récepteur, puis mettez fin à la suspension :',
  'owner.note': 'Vous recevez ce message parce que vous êtes propriétaire de cette application.',
};
