import type { MailMessages } from './en.js';

export const ES: MailMessages = {
  'invitation.subject': 'Invitación a una aplicación de {product}',
  'invitation.owner':
    '{inviter} le invita a administrar la aplicación «{application}» en {product}, como uno de sus propietarios. Para aceptar, abra este enlace e inicie sesión:',
  'invitation.tester':
    '{inviter} le invita a probar la aplicación «{application}» en {product} antes de su aprobación. Para aceptar, abra este enlace e inicie sesión:',
  'invitation.note':
    'El enlace funciona una sola vez, hasta el {date}. La persona que le invita eligió los nombres anteriores. Si no la conoce, no abra el enlace. Para denunciar este mensaje, respóndalo.',
  'question.subject': 'Una pregunta sobre «{application}»',
  'question.text':
    'El revisor de «{application}» en {product} tiene una pregunta. Respóndala en esta página:',
  'approved.subject': 'Su solicitud para «{application}» está aprobada',
  'approved.text': 'Su solicitud para la aplicación «{application}» en {product} está aprobada:',
  'rejected.subject': 'Su solicitud para «{application}» está rechazada',
  'rejected.text':
    'Su solicitud para la aplicación «{application}» en {product} está rechazada. Esta página indica el motivo:',
  'secret_expires.subject': 'Un secreto de cliente de «{application}» caduca el {date}',
  'secret_expires.text':
    'Un secreto de cliente de la aplicación «{application}» en {product} caduca el {date}. Cree un secreto nuevo en esta página y úselo en la aplicación antes de ese día:',
  'secret_expired.subject': 'Un secreto de cliente de «{application}» ha caducado',
  'secret_expired.text':
    'Un secreto de cliente de la aplicación «{application}» en {product} caducó el {date}. Las solicitudes con este secreto se rechazan. Si la aplicación todavía lo usa, cree uno nuevo en esta página:',
  'receiver_paused.subject': 'Los eventos para «{application}» están en pausa',
  'receiver_paused.text':
    'El receptor de la aplicación «{application}» lleva un día fallando, así que {product} ha puesto en pausa sus eventos o sus tokens de cierre de sesión. Esperan una semana. Repare el receptor y después termine la pausa:',
  'owner.note': 'Recibe este mensaje porque es propietario de esta aplicación.',
};
