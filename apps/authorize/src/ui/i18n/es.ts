import type { Messages } from './en.js';

export const ES: Messages = {
  'account.title': 'Tu cuenta',
  'account.switch': 'Usar otra cuenta',
  'account.switch_hint': 'Primero se cerrará tu sesión. Después podrás iniciar sesión con otra cuenta.',
  'account.apps_hint': 'Consulta qué aplicaciones tienen acceso a tu cuenta y quítales el acceso.',
  'account.language': 'Idioma',
  'account.language_browser': 'Idioma del navegador',
  'account.language_save': 'Guardar el idioma',
  'account.log_out': 'Cerrar sesión',
  'account.log_out_everywhere': 'Cerrar sesión en todas partes',
  'account.log_out_everywhere_hint':
    'Se cerrará tu sesión en este navegador y en todos los demás. Las aplicaciones conectadas conservan su acceso.',
  'flash.language': 'Idioma guardado.',
  'flash.logged_out': 'Has cerrado sesión.',
  'flash.logged_out_everywhere': 'Has cerrado sesión en todas partes.',
  'login.title': 'Iniciar sesión',
  'login.error_title': 'Error: Iniciar sesión',
  'login.continue': 'para continuar en {client}',
  'login.again': 'Vuelve a iniciar sesión como {name}.',
  'login.username': 'Correo electrónico o nombre de usuario',
  'login.password': 'Contraseña',
  'login.show_password': 'Mostrar la contraseña',
  'login.submit': 'Iniciar sesión',
  'login.problem.missing': 'Introduce tu correo electrónico o nombre de usuario y tu contraseña.',
  'login.problem.username_long':
    'El correo electrónico o nombre de usuario no puede tener más de {max, number} caracteres.',
  'login.problem.password_long': 'La contraseña no puede tener más de {max, number} caracteres.',
  'login.problem.wrong': 'El nombre de usuario o la contraseña no son correctos.',
  'login.problem.disabled':
    'Esta cuenta está desactivada. Contacta con el servicio de asistencia para que la reactiven.',
  'login.problem.throttled':
    'Demasiados intentos. Vuelve a intentarlo en {minutes, plural, one {# minuto} other {# minutos}} o usa un navegador en el que ya hayas iniciado sesión con esta cuenta.',

  'apps.title': 'Aplicaciones conectadas',
  'apps.intro': 'Estas aplicaciones tienen acceso a tu cuenta.',
  'apps.empty': 'No hay aplicaciones conectadas a tu cuenta.',
  'apps.empty_hint':
    'Las aplicaciones a las que des acceso aparecerán aquí, donde también podrás quitárselo.',
  'apps.disabled': 'Esta aplicación se ha desactivado y no puede acceder a tu cuenta.',
  'apps.since': 'Acceso permitido el {date}.',
  'apps.connected_since': 'Conectada desde el {date}.',
  'apps.last_used': 'Usada por última vez el {date}.',
  'apps.not_used': 'Aún no se ha usado.',
  'apps.revoke': 'Quitar acceso',
  'apps.revoke_one': 'Quitar acceso: {client}',
  'apps.revoke_all': 'Quitar todos los accesos',
  'apps.pages': 'Más aplicaciones',
  'apps.page': 'Página {page, number} de {pages, number}',
  'apps.next': 'Página siguiente',
  'apps.previous': 'Página anterior',
  'apps.back': 'Volver a tu cuenta',
  'revoke.title': '¿Quitar el acceso a {client}?',
  'revoke.what':
    '{client} perderá de inmediato el acceso a tu cuenta en todos los dispositivos. Puede que conserve los datos que ya haya recibido. Podrás volver a permitir el acceso en cualquier momento.',
  'revoke_all.title': '{count, plural, one {¿Quitar el acceso?} other {¿Quitar todos los accesos?}}',
  'revoke_all.what':
    '{count, plural, one {# aplicación perderá} other {# aplicaciones perderán}} de inmediato el acceso a tu cuenta en todos los dispositivos. Puede que {count, plural, one {conserve los datos que ya haya recibido} other {conserven los datos que ya hayan recibido}}.',
  'revoke.incomplete_title': 'Error: el acceso aún no se ha quitado en todas partes',
  'revoke.incomplete': 'El acceso aún no se ha quitado en todas partes',
  'revoke.incomplete_what':
    'Tu decisión se ha guardado, pero una parte de nuestro servicio no responde. El acceso puede seguir funcionando un tiempo.',
  'revoke.incomplete_advice':
    'Espera un momento y vuelve a intentarlo. Puedes hacerlo varias veces sin problema.',
  'flash.revoked': '{client} ya no tiene acceso a tu cuenta.',
  'flash.revoked_soon':
    'Se ha quitado el acceso a {client}. El cambio puede tardar hasta {seconds, number} segundos en aplicarse en todas partes.',
  'flash.all_revoked': 'Ninguna aplicación tiene ya acceso a tu cuenta.',
  'flash.all_revoked_soon':
    'Se han quitado todos los accesos. El cambio puede tardar hasta {seconds, number} segundos en aplicarse en todas partes.',
  'flash.not_connected': 'Esta aplicación no tiene acceso a tu cuenta.',

  'brand.product': 'Volver a {product}',
  'brand.privacy': 'Privacidad',
  'brand.terms': 'Condiciones',
  'brand.help': 'Ayuda',

  'consent.title': '¿Permitir que {client} acceda a tu cuenta?',
  'consent.error_title': 'Error: ¿Permitir que {client} acceda a tu cuenta?',
  'consent.heading': '{client} quiere acceder a tu cuenta de {product}',
  'consent.third_party': 'Aplicación de terceros',
  'consent.first_party': 'Aplicación oficial de {product}',
  'consent.testing':
    '{client} está en fase de pruebas: {product} no la ha revisado. Su acceso termina después de {days, plural, one {# día} other {# días}}.',
  'consent.registered': 'Registrada el {date}',
  'consent.goes_to.site': 'Se te redirigirá a <b>{place}</b>',
  'consent.goes_to.device': 'Se te redirigirá a una aplicación de este dispositivo: <b>{place}</b>',
  'consent.own_start':
    '¿Acabas de iniciar tú esta aplicación? Si no es así, cancela: cualquier aplicación de este dispositivo podría estar usando su nombre.',
  'continuation.title': 'Continuar a {client}',
  'continuation.hint': 'Si no ocurre nada, pulsa el botón.',
  'consent.apis': 'El acceso se limita a <b>{apis}</b>',
  'consent.account': 'Sesión iniciada como <b>{name}</b>',
  'consent.not_you': '¿No eres tú? Usar otra cuenta',
  'consent.may': 'Esto permitirá a {client}:',
  'consent.may_new': 'Esto también permitirá a {client}:',
  'consent.optional': 'También puedes permitir a {client}:',
  'consent.optional_only': 'Elige qué podrá hacer {client}:',
  'consent.before': 'Tus decisiones anteriores',
  'consent.before_required': '{client} ya puede:',
  'consent.before_optional': 'Puedes cambiar estas opciones:',
  'client.home': 'Sitio web',
  'client.policy': 'Política de privacidad',
  'scope.read': 'Acceso de lectura',
  'scope.write': 'Acceso de escritura',
  'consent.undo': 'Puedes quitar el acceso en cualquier momento en <a>Aplicaciones conectadas</a>.',
  'consent.allow': 'Permitir',
  'consent.cancel': 'Cancelar',
  'consent.problem.nothing': 'Selecciona al menos un permiso o elige «Cancelar».',

  'device.title': 'Conectar un dispositivo',
  'device.error_title': 'Error: Conectar un dispositivo',
  'device.code': 'Código que muestra tu dispositivo',
  'device.compare': 'Comprueba que tu dispositivo muestra este código:',
  'device.warning':
    '¿Alguien te ha enviado este código o enlace? Entonces no continúes: esa persona obtendría acceso a tu cuenta.',
  'device.continue': 'Continuar',
  'device.other': 'Introducir otro código',
  'device.from':
    'La solicitud procede de un dispositivo con la dirección <b>{address}</b>. Muestra el código <b>{code}</b>.',
  'device.problem.unknown':
    'Este código es incorrecto o ha caducado. Compáralo con el código de tu dispositivo.',
  'device.problem.throttled':
    'Demasiados códigos incorrectos. Vuelve a intentarlo en {minutes, plural, one {# minuto} other {# minutos}}.',
  'flash.device_connected': '{client} ya tiene acceso en tu dispositivo. Puedes cerrar esta página.',
  'flash.device_denied': 'El dispositivo no se ha conectado. Puedes cerrar esta página.',

  'error.client_missing.title': 'Este enlace no indica ninguna aplicación',
  'error.client_missing.what':
    'El enlace que te ha traído aquí no indica qué aplicación quiere acceder a tu cuenta.',
  'error.client_unknown.title': 'Aplicación no encontrada',
  'error.client_unknown.what':
    'Este enlace es de una aplicación que no está registrada aquí. Puede que contenga un error o que la aplicación se haya eliminado.',
  'error.client_document.title': 'No se puede identificar esta aplicación',
  'error.client_document.what':
    'La aplicación se describe en un documento de su sitio web. El documento no se puede cargar o contiene un error.',
  'error.client_disabled.title': 'Esta aplicación está desactivada',
  'error.client_disabled.what':
    'Hemos desactivado la aplicación desde la que has llegado. No puede acceder a tu cuenta, aunque se lo hayas permitido antes.',
  'error.client_testing.title': 'Esta aplicación está en fase de pruebas',
  'error.client_testing.what':
    'Todavía no hemos revisado esta aplicación. Hasta entonces, solo pueden usarla sus propietarios y los testers que hayan invitado.',
  'error.redirect_missing.title': 'Falta la dirección de retorno',
  'error.redirect_missing.what':
    'El enlace debe incluir una de las direcciones registradas de la aplicación (redirect_uri), pero no incluye ninguna.',
  'error.redirect_mismatch.title': 'La dirección de retorno no está registrada',
  'error.redirect_mismatch.what':
    'Para proteger tu cuenta, solo redirigimos a direcciones registradas por la aplicación. La del enlace no coincide exactamente con ninguna.',
  'error.parameter_malformed.title': 'El enlace está dañado',
  'error.parameter_malformed.what':
    'Una parte del enlace que te ha traído aquí es demasiado larga, está repetida o no se puede leer. Las aplicaciones de correo y de chat a veces cortan los enlaces.',
  'error.request_malformed.title': 'Este enlace no funciona aquí',
  'error.request_malformed.what':
    'El enlace debe contener una solicitud (request_uri) emitida por este servicio. La de este enlace no se emitió aquí.',
  'error.request_expired.title': 'Esta solicitud ha caducado',
  'error.request_expired.what':
    'Las solicitudes de las aplicaciones solo son válidas durante poco tiempo. Esta ha caducado o es de otra aplicación.',
  'error.request_answered.title': 'Ya has respondido a esta solicitud',
  'error.request_answered.what':
    'Cada solicitud solo se puede responder una vez. Tu decisión anterior sigue siendo válida.',
  'error.form_incomplete.title': 'El formulario está incompleto',
  'error.form_incomplete.what': 'No hemos recibido una opción válida. No se ha cambiado nada.',
  'error.form_outdated.title': 'Esta página está desactualizada',
  'error.form_outdated.what':
    'Desde que abriste esta página, alguien ha iniciado o cerrado sesión en otra pestaña de este navegador, o se ha cerrado el navegador.',
  'error.form_foreign.title': 'Este formulario procede de otro sitio',
  'error.form_foreign.what':
    'El formulario no se envió desde una de nuestras páginas, por lo que lo hemos rechazado.',
  'error.logged_in_elsewhere.title': 'Ya hay una sesión iniciada en este navegador',
  'error.logged_in_elsewhere.what':
    'Desde que abriste esta página, {name} ha iniciado sesión en otra pestaña de este navegador.',
  'error.cookie_missing.title': 'Tu navegador no envió nuestra cookie',
  'error.cookie_missing.what':
    'Para iniciar sesión se necesitan cookies. Puede que tu navegador las bloquee, que una ventana privada o incrustada las haya descartado o que el navegador se haya cerrado después de abrir la página.',
  'error.cookie_host.title': 'Esta página se ha abierto en otra dirección',
  'error.cookie_host.what':
    'Has abierto {opened}, pero la dirección correcta es {right}. Aunque ambas lleven al mismo sitio, tu navegador guarda sus cookies por separado.',
  'error.cookie_http.title': 'Esta página no se ha abierto mediante https',
  'error.cookie_http.what':
    'Has abierto {opened}, pero solo puedes iniciar sesión en {right}. Tu navegador solo envía nuestra cookie por conexiones cifradas.',
  'error.cookie_https.title': 'Este servicio está configurado para otra dirección',
  'error.cookie_https.what': 'Has abierto {opened}, pero este servicio está configurado para {right}.',
  'error.request_unreadable.title': 'No hemos podido leer tu solicitud',
  'error.request_unreadable.what': 'Los datos recibidos no son un formulario válido. No se ha cambiado nada.',
  'error.not_found.title': 'Página no encontrada',
  'error.not_found.what': 'No hay ninguna página en esta dirección.',
  'error.method_not_allowed.title': 'Esta dirección no se puede abrir así',
  'error.method_not_allowed.what': 'La dirección existe, pero no acepta este tipo de solicitud.',
  'error.too_large.title': 'El formulario es demasiado grande',
  'error.too_large.what': 'El formulario contiene más datos de los que aceptamos.',
  'error.not_a_form.title': 'Aquí solo se pueden enviar formularios',
  'error.not_a_form.what': 'Los datos enviados a esta dirección no proceden de una de nuestras páginas.',
  'error.busy.title': 'Hay demasiadas personas iniciando sesión en este momento',
  'error.busy.what':
    'No hemos comprobado tu contraseña. Esto no cuenta como intento fallido y podrás continuar donde lo dejaste.',
  'error.unavailable.title': 'Nuestro servicio no está disponible temporalmente',
  'error.unavailable.what':
    'Una parte de nuestro servicio no responde. Tu cuenta y tus decisiones anteriores no se ven afectadas.',
  'error.server_error.title': 'Se ha producido un error en nuestro servicio',
  'error.server_error.what': 'No hemos podido completar tu solicitud.',

  'error.title': 'Error: {title}',
  'guide.title': 'Referencia de errores',
  'guide.intro':
    'Qué significa cada error y cómo solucionarlo. Si nada de esto te ayuda, envía la referencia del error al operador del servicio.',
  'guide.english': 'Las descripciones están en inglés.',
  'error.party.user': 'Puedes solucionarlo tú.',
  'error.party.application': 'Solo el desarrollador de la aplicación puede solucionarlo.',
  'error.party.operator': 'Solo nosotros podemos resolverlo.',
  'error.party.nobody': 'Tu solicitud es correcta. El problema es temporal.',
  'error.advice.start_at_application': 'Vuelve a la aplicación y empieza de nuevo desde allí.',
  'error.advice.contact_developer':
    'Ponte en contacto con el desarrollador e indica la referencia que aparece abajo. Volver a intentarlo no servirá.',
  'error.advice.retry_or_contact_developer':
    'Vuelve a la aplicación e inténtalo de nuevo. Si el problema continúa, ponte en contacto con el desarrollador de la aplicación e indica la referencia que aparece abajo.',
  'error.advice.open_again': 'Vuelve a abrir la página e inténtalo de nuevo.',
  'error.advice.start_again': 'Empieza de nuevo desde aquí. No se ha cambiado nada.',
  'error.advice.continue': 'Pulsa «Continuar» para usar esa cuenta.',
  'error.advice.allow_cookies':
    'Permite las cookies de este sitio en los ajustes de tu navegador. Si esta página se muestra dentro de otra aplicación, ábrela en tu navegador. Después, empieza de nuevo. No se ha cambiado nada.',
  'error.advice.close': 'Cierra esta página. No se ha cambiado nada.',
  'error.advice.check_address': 'Comprueba la dirección o vuelve a la aplicación desde la que has llegado.',
  'error.advice.enter_less': 'Vuelve atrás e introduce menos texto.',
  'error.advice.wait': 'Espera un momento y vuelve a intentarlo.',
  'error.advice.contact_us':
    'Vuelve a intentarlo. Si el problema continúa, ponte en contacto con nosotros e indica la referencia que aparece abajo.',
  'error.advice.review_apps':
    'No tienes que hacer nada. Para quitarle el acceso definitivamente, ve a tus aplicaciones conectadas. Si tienes preguntas, ponte en contacto con nosotros e indica la referencia que aparece abajo.',
  'error.advice.ask_invitation':
    'Si te invitaron con otra cuenta, inicia sesión con ella. Si no, pide una invitación al desarrollador. No se ha cambiado nada.',
  'error.button.again': 'Reintentar',
  'error.button.start_again': 'Empezar de nuevo',
  'error.button.continue': 'Continuar',
  'error.reference': 'Referencia:',
  'error.details': 'Para desarrolladores',
  'error.detail.code': 'Código de error',
  'error.detail.check': 'Comprobación fallida',
  'error.detail.description': 'Descripción',
  'error.detail.parameters': 'Parámetros de la dirección',
  'error.causes': 'Causas habituales',
  'error.hint.slash': 'Una de las dos direcciones termina en barra y la otra no.',
  'error.hint.scheme': 'Una empieza por http y la otra por https.',
  'error.hint.port':
    'El host o el puerto son distintos: localhost no es lo mismo que 127.0.0.1, y www. también cuenta.',
  'error.hint.encoding':
    'Una tiene la codificación porcentual duplicada o ninguna, un parámetro de más o diferencias entre mayúsculas y minúsculas.',
  'error.registered':
    'Compara la dirección con las URI de redirección registradas para este cliente. El operador de este servicio puede mostrarlas con {show} y añadir una con {add}.',
  'error.hint.auth_url':
    'Esta solicitud llegó a {opened}, pero AUTH_URL es {right}. Un proxy situado delante debe reenviar la cabecera Host.',
  'error.hint.secure':
    'Los navegadores solo envían las cookies Secure por https. Un proxy que termina TLS debe enviar X-Forwarded-Proto.',
  'error.hint.proxy': 'Un proxy envió cabeceras X-Forwarded-…, pero TRUSTED_PROXIES no incluye su dirección.',

  'login.signed_jwt': 'Has iniciado sesión. Pulsa «Continuar» para terminar.',
  'error.advice.ask_support': 'Contacta con el servicio de asistencia para que reactiven tu cuenta.',
  'error.login_outdated.title': 'Este inicio de sesión ha caducado',
  'error.login_outdated.what':
    'El inicio de sesión tardó demasiado, se empezó en otro navegador o tu navegador no guardó nuestra cookie.',
  'error.login_cancelled.title': 'No has iniciado sesión',
  'error.login_cancelled.what': 'Se ha cancelado el inicio de sesión.',
  'error.login_refused.title': 'No se ha podido iniciar sesión',
  'error.login_refused.what': 'No hemos podido aceptar la respuesta de la página de inicio de sesión.',
  'error.login_disabled.title': 'Tu cuenta está desactivada',
  'error.login_disabled.what': 'Has iniciado sesión correctamente, pero esta cuenta no se puede usar aquí.',
  'error.login_unavailable.title': 'El inicio de sesión no está disponible temporalmente',
  'error.login_unavailable.what':
    'La página de inicio de sesión no responde. Podrás continuar donde lo dejaste.',

  'logout.title': '¿Cerrar sesión en {product}?',
  'logout.client': '{client} quiere cerrar tu sesión.',
  'logout.stay': 'Mantener la sesión',
  'error.logout_malformed.title': 'Este enlace para cerrar sesión no funciona',
  'error.logout_malformed.what':
    'El enlace contiene un token de identidad (id_token_hint) que no emitimos para esta aplicación.',
  'error.logout_client_missing.title': 'Este enlace para cerrar sesión no indica ninguna aplicación',
  'error.logout_client_missing.what':
    'Tras cerrar sesión, solo redirigimos a direcciones registradas por una aplicación. El enlace contiene una dirección, pero ningún token de identidad (id_token_hint) ni client_id.',
  'error.logout_redirect.title': 'La dirección posterior al cierre de sesión no está registrada',
  'error.logout_redirect.what':
    'Tras cerrar sesión, solo redirigimos a direcciones registradas por la aplicación. La del enlace no coincide exactamente con ninguna.',
};
