import type { Messages } from './en.js';

export const FR: Messages = {
  'account.title': 'Votre compte',
  'account.switch': 'Utiliser un autre compte',
  'account.switch_hint':
    'Vous serez d’abord déconnecté. Vous pourrez ensuite vous connecter avec un autre compte.',
  'account.apps_hint': 'Consultez les applications qui ont accès à votre compte et supprimez leur accès.',
  'account.language': 'Langue',
  'account.language_browser': 'Langue du navigateur',
  'account.language_save': 'Enregistrer la langue',
  'account.log_out': 'Se déconnecter',
  'account.log_out_everywhere': 'Se déconnecter partout',
  'account.log_out_everywhere_hint':
    'Vous serez déconnecté de ce navigateur et de tous les autres. Les applications connectées conservent leur accès.',
  'flash.language': 'Langue enregistrée.',
  'flash.logged_out': 'Vous avez été déconnecté.',
  'flash.logged_out_everywhere': 'Vous avez été déconnecté partout.',
  'login.title': 'Se connecter',
  'login.error_title': 'Erreur : Se connecter',
  'login.continue': 'pour continuer vers {client}',
  'login.again': 'Reconnectez-vous en tant que {name}.',
  'login.username': 'Adresse e-mail ou nom d’utilisateur',
  'login.password': 'Mot de passe',
  'login.show_password': 'Afficher le mot de passe',
  'login.submit': 'Se connecter',
  'login.problem.missing':
    'Saisissez votre adresse e‑mail ou votre nom d’utilisateur, ainsi que votre mot de passe.',
  'login.problem.username_long':
    'L’adresse e‑mail ou le nom d’utilisateur ne doit pas dépasser {max, number} caractères.',
  'login.problem.password_long': 'Le mot de passe ne doit pas dépasser {max, number} caractères.',
  'login.problem.wrong': 'Nom d’utilisateur ou mot de passe incorrect.',
  'login.problem.disabled': 'Ce compte est désactivé. Contactez l’assistance pour le faire réactiver.',
  'login.problem.throttled':
    'Trop de tentatives. Réessayez dans {minutes, plural, one {# minute} other {# minutes}}, ou utilisez un navigateur dans lequel vous vous êtes déjà connecté à ce compte.',

  'apps.title': 'Applications connectées',
  'apps.intro': 'Ces applications ont accès à votre compte.',
  'apps.empty': 'Aucune application n’est connectée à votre compte.',
  'apps.empty_hint':
    'Les applications que vous autorisez apparaîtront ici. Vous pourrez y supprimer leur accès.',
  'apps.disabled': 'Cette application a été désactivée et ne peut pas accéder à votre compte.',
  'apps.since': 'Accès autorisé le {date}.',
  'apps.connected_since': 'Connectée depuis le {date}.',
  'apps.last_used': 'Dernière utilisation le {date}.',
  'apps.not_used': 'Pas encore utilisée.',
  'apps.revoke': 'Supprimer l’accès',
  'apps.revoke_one': 'Supprimer l’accès : {client}',
  'apps.revoke_all': 'Supprimer tous les accès',
  'apps.pages': 'Autres applications',
  'apps.page': 'Page {page, number} sur {pages, number}',
  'apps.next': 'Page suivante',
  'apps.previous': 'Page précédente',
  'apps.back': 'Retour à votre compte',
  'revoke.title': 'Supprimer l’accès de {client} ?',
  'revoke.what':
    '{client} perdra immédiatement l’accès à votre compte, sur tous vos appareils. Cette application peut conserver les données déjà reçues. Vous pourrez à nouveau autoriser l’accès à tout moment.',
  'revoke_all.title': '{count, plural, one {Supprimer l’accès ?} other {Supprimer tous les accès ?}}',
  'revoke_all.what':
    '{count, plural, one {# application perdra} other {# applications perdront}} immédiatement l’accès à votre compte, sur tous vos appareils. {count, plural, one {Elle peut} other {Elles peuvent}} conserver les données déjà reçues.',
  'revoke.incomplete_title': 'Erreur : accès pas encore supprimé partout',
  'revoke.incomplete': 'L’accès n’est pas encore supprimé partout',
  'revoke.incomplete_what':
    'Votre décision est enregistrée, mais une partie de notre service ne répond pas. L’accès peut donc encore fonctionner un moment.',
  'revoke.incomplete_advice':
    'Attendez un instant, puis réessayez. Vous pouvez le faire plusieurs fois sans risque.',
  'flash.revoked': '{client} n’a plus accès à votre compte.',
  'flash.revoked_soon':
    'L’accès de {client} a été supprimé. La prise en compte peut prendre jusqu’à {seconds, number} secondes.',
  'flash.all_revoked': 'Plus aucune application n’a accès à votre compte.',
  'flash.all_revoked_soon':
    'Tous les accès ont été supprimés. La prise en compte peut prendre jusqu’à {seconds, number} secondes.',
  'flash.not_connected': 'Cette application n’a pas accès à votre compte.',

  'brand.product': 'Retour à {product}',
  'brand.privacy': 'Confidentialité',
  'brand.terms': 'Conditions d’utilisation',
  'brand.help': 'Aide',

  'consent.title': 'Autoriser {client} à accéder à votre compte ?',
  'consent.error_title': 'Erreur : Autoriser {client} à accéder à votre compte ?',
  'consent.heading': '{client} souhaite accéder à votre compte {product}',
  'consent.third_party': 'Application tierce',
  'consent.first_party': 'Application officielle de {product}',
  'consent.testing':
    '{client} est en phase de test : {product} ne l’a pas examinée. Son accès prend fin après {days, plural, one {# jour} other {# jours}}.',
  'consent.registered': 'Enregistrée le {date}',
  'consent.goes_to.site': 'Vous serez redirigé vers <b>{place}</b>',
  'consent.goes_to.device': 'Vous serez redirigé vers une application sur cet appareil : <b>{place}</b>',
  'consent.own_start':
    'Venez-vous de lancer vous-même cette application ? Sinon, annulez : n’importe quelle application de cet appareil pourrait utiliser son nom.',
  'continuation.title': 'Continuer vers {client}',
  'continuation.hint': 'Si rien ne se passe, cliquez sur le bouton.',
  'consent.apis': 'L’accès est limité à <b>{apis}</b>',
  'consent.account': 'Connecté en tant que <b>{name}</b>',
  'consent.not_you': 'Ce n’est pas vous ? Utiliser un autre compte',
  'consent.may': 'Cela permettra à {client} de :',
  'consent.may_new': 'Cela permettra également à {client} de :',
  'consent.optional': 'Vous pouvez aussi autoriser {client} à :',
  'consent.optional_only': 'Choisissez ce que {client} pourra faire :',
  'consent.before': 'Vos décisions précédentes',
  'consent.before_required': '{client} peut déjà :',
  'consent.before_optional': 'Vous pouvez modifier ces choix :',
  'client.home': 'Site web',
  'client.policy': 'Politique de confidentialité',
  'scope.read': 'Accès en lecture',
  'scope.write': 'Accès en écriture',
  'consent.undo': 'Vous pouvez supprimer l’accès à tout moment dans <a>Applications connectées</a>.',
  'consent.allow': 'Autoriser',
  'consent.cancel': 'Annuler',
  'consent.problem.nothing': 'Sélectionnez au moins une autorisation, ou cliquez sur « Annuler ».',

  'device.title': 'Connecter un appareil',
  'device.error_title': 'Erreur : Connecter un appareil',
  'device.code': 'Code affiché sur votre appareil',
  'device.compare': 'Vérifiez que votre appareil affiche ce code :',
  'device.warning':
    'Quelqu’un vous a envoyé ce code ou ce lien ? Alors n’allez pas plus loin : cette personne aurait accès à votre compte.',
  'device.continue': 'Continuer',
  'device.other': 'Saisir un autre code',
  'device.from':
    'La demande provient d’un appareil à l’adresse <b>{address}</b>. Il affiche le code <b>{code}</b>.',
  'device.problem.unknown':
    'Ce code est incorrect ou a expiré. Comparez-le avec le code affiché sur votre appareil.',
  'device.problem.throttled':
    'Trop de codes incorrects. Réessayez dans {minutes, plural, one {# minute} other {# minutes}}.',
  'flash.device_connected': '{client} a maintenant accès sur votre appareil. Vous pouvez fermer cette page.',
  'flash.device_denied': 'L’appareil n’a pas été connecté. Vous pouvez fermer cette page.',

  'error.client_missing.title': 'Ce lien n’indique aucune application',
  'error.client_missing.what':
    'Le lien qui vous a amené ici n’indique pas quelle application souhaite accéder à votre compte.',
  'error.client_unknown.title': 'Application introuvable',
  'error.client_unknown.what':
    'Ce lien concerne une application qui n’est pas enregistrée ici. Il contient peut-être une erreur, ou l’application a été supprimée.',
  'error.client_document.title': 'Impossible d’identifier cette application',
  'error.client_document.what':
    'L’application se décrit dans un document sur son site web. Ce document ne peut pas être chargé ou contient une erreur.',
  'error.client_disabled.title': 'Cette application est désactivée',
  'error.client_disabled.what':
    'Nous avons désactivé l’application qui vous a envoyé ici. Elle ne peut pas accéder à votre compte, même si vous l’aviez autorisée.',
  'error.client_testing.title': 'Cette application est en phase de test',
  'error.client_testing.what':
    'Nous n’avons pas encore examiné cette application. D’ici là, seuls ses propriétaires et les testeurs qu’ils ont invités peuvent l’utiliser.',
  'error.redirect_missing.title': 'L’adresse de retour est manquante',
  'error.redirect_missing.what':
    'Le lien doit contenir une des adresses enregistrées de l’application (redirect_uri), mais il n’en contient aucune.',
  'error.redirect_mismatch.title': 'L’adresse de retour n’est pas enregistrée',
  'error.redirect_mismatch.what':
    'Pour protéger votre compte, nous ne redirigeons que vers les adresses enregistrées par l’application. Celle du lien ne correspond exactement à aucune d’elles.',
  'error.parameter_malformed.title': 'Le lien est endommagé',
  'error.parameter_malformed.what':
    'Une partie du lien qui vous a amené ici est trop longue, répétée ou illisible. Les messageries coupent parfois les liens.',
  'error.request_malformed.title': 'Ce lien ne fonctionne pas ici',
  'error.request_malformed.what':
    'Le lien doit contenir une demande (request_uri) délivrée par ce service. Celle de ce lien n’a pas été délivrée ici.',
  'error.request_expired.title': 'Cette demande a expiré',
  'error.request_expired.what':
    'Les demandes des applications ne sont valables que peu de temps. Celle-ci a expiré ou concerne une autre application.',
  'error.request_answered.title': 'Vous avez déjà répondu à cette demande',
  'error.request_answered.what':
    'Chaque demande ne peut recevoir qu’une seule réponse. Votre décision précédente reste valable.',
  'error.form_incomplete.title': 'Le formulaire est incomplet',
  'error.form_incomplete.what': 'Nous n’avons pas reçu de choix valide. Rien n’a été modifié.',
  'error.form_outdated.title': 'Cette page n’est plus à jour',
  'error.form_outdated.what':
    'Depuis que vous avez ouvert cette page, quelqu’un s’est connecté ou déconnecté dans un autre onglet de ce navigateur, ou le navigateur a été fermé.',
  'error.form_foreign.title': 'Ce formulaire provient d’un autre site',
  'error.form_foreign.what':
    'Le formulaire n’a pas été envoyé depuis une de nos pages. Nous l’avons donc rejeté.',
  'error.logged_in_elsewhere.title': 'Une session est déjà ouverte dans ce navigateur',
  'error.logged_in_elsewhere.what':
    'Depuis que vous avez ouvert cette page, {name} s’est connecté dans un autre onglet de ce navigateur.',
  'error.cookie_missing.title': 'Votre navigateur n’a pas envoyé notre cookie',
  'error.cookie_missing.what':
    'Les cookies sont nécessaires pour se connecter. Votre navigateur les bloque peut-être, une fenêtre privée ou intégrée les a supprimés, ou le navigateur a été fermé après l’ouverture de la page.',
  'error.cookie_host.title': 'Cette page a été ouverte à une autre adresse',
  'error.cookie_host.what':
    'Vous avez ouvert {opened}, mais la bonne adresse est {right}. Même si les deux mènent au même endroit, votre navigateur sépare leurs cookies.',
  'error.cookie_http.title': 'Cette page n’a pas été ouverte en https',
  'error.cookie_http.what':
    'Vous avez ouvert {opened}, mais vous ne pouvez vous connecter que sur {right}. Votre navigateur n’envoie notre cookie que par des connexions chiffrées.',
  'error.cookie_https.title': 'Ce service est configuré pour une autre adresse',
  'error.cookie_https.what': 'Vous avez ouvert {opened}, mais ce service est configuré pour {right}.',
  'error.request_unreadable.title': 'Nous n’avons pas pu lire votre demande',
  'error.request_unreadable.what':
    'Les données reçues ne constituent pas un formulaire valide. Rien n’a été modifié.',
  'error.not_found.title': 'Page introuvable',
  'error.not_found.what': 'Il n’y a aucune page à cette adresse.',
  'error.method_not_allowed.title': 'Cette adresse ne peut pas être ouverte ainsi',
  'error.method_not_allowed.what': 'L’adresse existe, mais elle n’accepte pas ce type de requête.',
  'error.too_large.title': 'Le formulaire est trop volumineux',
  'error.too_large.what': 'Le formulaire contient plus de données que nous n’en acceptons.',
  'error.not_a_form.title': 'Seuls des formulaires peuvent être envoyés ici',
  'error.not_a_form.what': 'Les données envoyées à cette adresse ne proviennent pas d’une de nos pages.',
  'error.busy.title': 'Trop de personnes se connectent en ce moment',
  'error.busy.what':
    'Nous n’avons pas encore vérifié votre mot de passe. Cela ne compte pas comme un échec, et vous pourrez reprendre là où vous en étiez.',
  'error.unavailable.title': 'Notre service est temporairement indisponible',
  'error.unavailable.what':
    'Une partie de notre service ne répond pas. Votre compte et vos décisions précédentes ne sont pas concernés.',
  'error.server_error.title': 'Une erreur s’est produite de notre côté',
  'error.server_error.what': 'Nous n’avons pas pu traiter votre demande.',

  'error.title': 'Erreur : {title}',
  'guide.title': 'Référence des erreurs',
  'guide.intro':
    'La signification de chaque erreur et la façon de la corriger. Si rien ici ne vous aide, envoyez la référence de l’erreur à l’exploitant du service.',
  'guide.english': 'Les descriptions sont en anglais.',
  'error.party.user': 'Vous pouvez résoudre ce problème vous-même.',
  'error.party.application': 'Seul le développeur de l’application peut résoudre ce problème.',
  'error.party.operator': 'Nous seuls pouvons y remédier.',
  'error.party.nobody': 'Votre demande est correcte. Ce problème est temporaire.',
  'error.advice.start_at_application': 'Revenez à l’application et recommencez à partir de là.',
  'error.advice.contact_developer':
    'Contactez le développeur en indiquant la référence ci-dessous. Réessayer n’y changera rien.',
  'error.advice.retry_or_contact_developer':
    'Revenez à l’application et réessayez. Si le problème persiste, contactez le développeur de l’application en indiquant la référence ci-dessous.',
  'error.advice.open_again': 'Rouvrez la page et réessayez.',
  'error.advice.start_again': 'Recommencez à partir d’ici. Rien n’a été modifié.',
  'error.advice.continue': 'Cliquez sur « Continuer » pour utiliser ce compte.',
  'error.advice.allow_cookies':
    'Autorisez les cookies pour ce site dans les paramètres de votre navigateur. Si cette page s’affiche dans une autre application, ouvrez-la dans votre navigateur. Ensuite, recommencez. Rien n’a été modifié.',
  'error.advice.close': 'Fermez cette page. Rien n’a été modifié.',
  'error.advice.check_address': 'Vérifiez l’adresse, ou revenez à l’application d’où vous venez.',
  'error.advice.enter_less': 'Revenez en arrière et saisissez moins de texte.',
  'error.advice.wait': 'Attendez un instant, puis réessayez.',
  'error.advice.contact_us':
    'Réessayez. Si le problème persiste, contactez-nous en indiquant la référence ci-dessous.',
  'error.advice.review_apps':
    'Vous n’avez rien à faire. Pour supprimer définitivement son accès, ouvrez vos applications connectées. Si vous avez des questions, contactez-nous en indiquant la référence ci-dessous.',
  'error.advice.ask_invitation':
    'Si vous avez été invité avec un autre compte, connectez-vous avec celui-ci. Sinon, demandez une invitation au développeur. Rien n’a été modifié.',
  'error.button.again': 'Réessayer',
  'error.button.start_again': 'Recommencer',
  'error.button.continue': 'Continuer',
  'error.reference': 'Référence :',
  'error.details': 'Pour les développeurs',
  'error.detail.code': 'Code d’erreur',
  'error.detail.check': 'Vérification échouée',
  'error.detail.description': 'Description',
  'error.detail.parameters': 'Paramètres dans l’adresse',
  'error.causes': 'Causes fréquentes',
  'error.hint.slash': 'L’une des deux adresses se termine par une barre oblique, l’autre non.',
  'error.hint.scheme': 'L’une commence par http, l’autre par https.',
  'error.hint.port': 'L’hôte ou le port diffère : localhost n’est pas 127.0.0.1, et www. compte.',
  'error.hint.encoding':
    'L’une est encodée deux fois ou pas du tout (encodage-pourcent), contient un paramètre de plus, ou diffère par les majuscules et minuscules.',
  'error.registered':
    'Comparez l’adresse avec les URI de redirection enregistrées pour ce client. L’exploitant de ce service peut les afficher avec {show} et en ajouter une avec {add}.',
  'error.hint.auth_url':
    'Cette requête est arrivée sur {opened}, mais AUTH_URL vaut {right}. Un proxy placé devant le service doit transmettre l’en-tête Host.',
  'error.hint.secure':
    'Les navigateurs n’envoient les cookies Secure que via https. Un proxy qui termine TLS doit envoyer X-Forwarded-Proto.',
  'error.hint.proxy':
    'Un proxy a envoyé des en-têtes X-Forwarded-…, mais TRUSTED_PROXIES n’inclut pas son adresse.',

  'login.signed_jwt': 'Vous êtes connecté. Cliquez sur « Continuer » pour terminer.',
  'error.advice.ask_support': 'Contactez l’assistance pour faire réactiver votre compte.',
  'error.login_outdated.title': 'Cette connexion a expiré',
  'error.login_outdated.what':
    'La connexion a pris trop de temps, elle a été commencée dans un autre navigateur, ou votre navigateur n’a pas conservé notre cookie.',
  'error.login_cancelled.title': 'Vous n’êtes pas connecté',
  'error.login_cancelled.what': 'La connexion a été annulée.',
  'error.login_refused.title': 'Échec de la connexion',
  'error.login_refused.what': 'Nous n’avons pas pu accepter la réponse de la page de connexion.',
  'error.login_disabled.title': 'Votre compte est désactivé',
  'error.login_disabled.what': 'Vous vous êtes bien connecté, mais ce compte ne peut pas être utilisé ici.',
  'error.login_unavailable.title': 'La connexion est temporairement indisponible',
  'error.login_unavailable.what':
    'La page de connexion ne répond pas. Vous pourrez reprendre là où vous en étiez.',

  'logout.title': 'Se déconnecter de {product} ?',
  'logout.client': '{client} souhaite vous déconnecter.',
  'logout.stay': 'Rester connecté',
  'error.logout_malformed.title': 'Ce lien de déconnexion ne fonctionne pas',
  'error.logout_malformed.what':
    'Le lien contient un jeton d’identité (id_token_hint) que nous n’avons pas délivré à cette application.',
  'error.logout_client_missing.title': 'Ce lien de déconnexion n’indique aucune application',
  'error.logout_client_missing.what':
    'Après une déconnexion, nous ne redirigeons que vers les adresses enregistrées par une application. Le lien contient une adresse, mais ni jeton d’identité (id_token_hint) ni client_id.',
  'error.logout_redirect.title': 'L’adresse après la déconnexion n’est pas enregistrée',
  'error.logout_redirect.what':
    'Après une déconnexion, nous ne redirigeons que vers les adresses enregistrées par l’application. Celle du lien ne correspond exactement à aucune d’elles.',
};
