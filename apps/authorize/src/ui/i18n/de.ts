import type { Messages } from './en.js';

export const DE: Messages = {
  'account.title': 'Ihr Konto',
  'account.switch': 'Anderes Konto verwenden',
  'account.switch_hint':
    'Sie werden zuerst abgemeldet und können sich dann mit einem anderen Konto anmelden.',
  'account.apps_hint':
    'Sehen Sie, welche Anwendungen auf Ihr Konto zugreifen können, und entziehen Sie ihnen bei Bedarf den Zugriff.',
  'account.language': 'Sprache',
  'account.language_browser': 'Wie im Browser eingestellt',
  'account.language_save': 'Sprache speichern',
  'account.log_out': 'Abmelden',
  'account.log_out_everywhere': 'Überall abmelden',
  'account.log_out_everywhere_hint':
    'Sie werden in diesem und in allen anderen Browsern abgemeldet. Verbundene Anwendungen behalten ihren Zugriff.',
  'flash.language': 'Sprache gespeichert.',
  'flash.logged_out': 'Sie wurden abgemeldet.',
  'flash.logged_out_everywhere': 'Sie wurden überall abgemeldet.',
  'login.title': 'Anmelden',
  'login.error_title': 'Fehler: Anmelden',
  'login.continue': 'Weiter zu {client}',
  'login.again': 'Melden Sie sich noch einmal als {name} an.',
  'login.username': 'E-Mail-Adresse oder Benutzername',
  'login.password': 'Passwort',
  'login.show_password': 'Passwort anzeigen',
  'login.submit': 'Anmelden',
  'login.problem.missing': 'Geben Sie Ihre E‑Mail‑Adresse oder Ihren Benutzernamen und Ihr Passwort ein.',
  'login.problem.username_long':
    'Die E‑Mail‑Adresse oder der Benutzername darf höchstens {max, number} Zeichen lang sein.',
  'login.problem.password_long': 'Das Passwort darf höchstens {max, number} Zeichen lang sein.',
  'login.problem.wrong': 'Benutzername oder Passwort ist falsch.',
  'login.problem.disabled':
    'Dieses Konto ist gesperrt. Wenden Sie sich an den Support, um es freischalten zu lassen.',
  'login.problem.throttled':
    'Zu viele Versuche. Versuchen Sie es in {minutes, plural, one {# Minute} other {# Minuten}} noch einmal, oder verwenden Sie einen Browser, in dem Sie schon einmal bei diesem Konto angemeldet waren.',

  'apps.title': 'Verbundene Anwendungen',
  'apps.intro': 'Diese Anwendungen können auf Ihr Konto zugreifen.',
  'apps.empty': 'Mit Ihrem Konto sind keine Anwendungen verbunden.',
  'apps.empty_hint':
    'Hier erscheinen Anwendungen, denen Sie den Zugriff erlauben. Sie können ihnen den Zugriff hier auch wieder entziehen.',
  'apps.disabled': 'Diese Anwendung wurde gesperrt und kann nicht auf Ihr Konto zugreifen.',
  'apps.since': 'Zugriff erlaubt am {date}.',
  'apps.connected_since': 'Verbunden seit {date}.',
  'apps.last_used': 'Zuletzt verwendet am {date}.',
  'apps.not_used': 'Noch nicht verwendet.',
  'apps.revoke': 'Zugriff entziehen',
  'apps.revoke_one': 'Zugriff entziehen: {client}',
  'apps.revoke_all': 'Allen den Zugriff entziehen',
  'apps.pages': 'Weitere Anwendungen',
  'apps.page': 'Seite {page, number} von {pages, number}',
  'apps.next': 'Nächste Seite',
  'apps.previous': 'Vorherige Seite',
  'apps.back': 'Zurück zu Ihrem Konto',
  'revoke.title': '{client} den Zugriff entziehen?',
  'revoke.what':
    '{client} verliert sofort und auf allen Geräten den Zugriff auf Ihr Konto. Bereits abgerufene Daten können dort gespeichert bleiben. Sie können den Zugriff jederzeit wieder erlauben.',
  'revoke_all.title': '{count, plural, one {Zugriff entziehen?} other {Allen den Zugriff entziehen?}}',
  'revoke_all.what':
    '{count, plural, one {# Anwendung verliert} other {# Anwendungen verlieren}} sofort und auf allen Geräten den Zugriff auf Ihr Konto. Bereits abgerufene Daten können dort gespeichert bleiben.',
  'revoke.incomplete_title': 'Fehler: Zugriff noch nicht überall entzogen',
  'revoke.incomplete': 'Zugriff noch nicht überall entzogen',
  'revoke.incomplete_what':
    'Ihre Entscheidung ist gespeichert, aber ein Teil unseres Dienstes antwortet nicht. Der Zugriff kann daher noch eine Weile möglich sein.',
  'revoke.incomplete_advice':
    'Warten Sie einen Moment, und versuchen Sie es dann noch einmal. Sie können das gefahrlos wiederholen.',
  'flash.revoked': '{client} kann nicht mehr auf Ihr Konto zugreifen.',
  'flash.revoked_soon':
    '{client} wurde der Zugriff entzogen. Bis das überall wirkt, können bis zu {seconds, number} Sekunden vergehen.',
  'flash.all_revoked': 'Keine Anwendung kann mehr auf Ihr Konto zugreifen.',
  'flash.all_revoked_soon':
    'Allen Anwendungen wurde der Zugriff entzogen. Bis das überall wirkt, können bis zu {seconds, number} Sekunden vergehen.',
  'flash.not_connected': 'Diese Anwendung hat keinen Zugriff auf Ihr Konto.',

  'brand.product': 'Zurück zu {product}',
  'brand.privacy': 'Datenschutz',
  'brand.terms': 'Nutzungsbedingungen',
  'brand.help': 'Hilfe',

  'consent.title': '{client} Zugriff auf Ihr Konto erlauben?',
  'consent.error_title': 'Fehler: {client} Zugriff auf Ihr Konto erlauben?',
  'consent.heading': '{client} möchte auf Ihr Konto bei {product} zugreifen',
  'consent.third_party': 'Anwendung eines Drittanbieters',
  'consent.first_party': 'Offizielle Anwendung von {product}',
  'consent.testing':
    '{client} ist in der Testphase: {product} hat die Anwendung nicht geprüft. Ihr Zugriff endet nach {days, plural, one {# Tag} other {# Tagen}}.',
  'consent.registered': 'Registriert am {date}',
  'consent.goes_to.site': 'Sie werden weitergeleitet zu <b>{place}</b>',
  'consent.goes_to.device': 'Sie werden zu einer App auf diesem Gerät weitergeleitet: <b>{place}</b>',
  'consent.own_start':
    'Haben Sie diese Anwendung gerade selbst gestartet? Wenn nicht, brechen Sie ab: Jede App auf diesem Gerät könnte ihren Namen verwenden.',
  'continuation.title': 'Weiter zu {client}',
  'continuation.hint': 'Wenn nichts passiert, klicken Sie auf die Schaltfläche.',
  'consent.apis': 'Der Zugriff ist auf <b>{apis}</b> beschränkt',
  'consent.account': 'Angemeldet als <b>{name}</b>',
  'consent.not_you': 'Nicht Ihr Konto? Anderes verwenden',
  'consent.may': '{client} erhält damit folgende Berechtigungen:',
  'consent.may_new': '{client} erhält damit zusätzlich folgende Berechtigungen:',
  'consent.optional': 'Zusätzlich können Sie {client} folgende Berechtigungen erteilen:',
  'consent.optional_only': 'Wählen Sie die Berechtigungen für {client} aus:',
  'consent.before': 'Ihre früheren Entscheidungen',
  'consent.before_required': '{client} hat bereits folgende Berechtigungen:',
  'consent.before_optional': 'Diese Auswahl können Sie ändern:',
  'client.home': 'Website',
  'client.policy': 'Datenschutzerklärung',
  'scope.read': 'Lesezugriff',
  'scope.write': 'Schreibzugriff',
  'consent.undo': 'Sie können den Zugriff jederzeit unter <a>Verbundene Anwendungen</a> entziehen.',
  'consent.allow': 'Zulassen',
  'consent.cancel': 'Abbrechen',
  'consent.problem.nothing': 'Wählen Sie mindestens eine Berechtigung aus, oder klicken Sie auf „Abbrechen“.',

  'device.title': 'Gerät verbinden',
  'device.error_title': 'Fehler: Gerät verbinden',
  'device.code': 'Code, den Ihr Gerät anzeigt',
  'device.compare': 'Prüfen Sie, ob Ihr Gerät diesen Code anzeigt:',
  'device.warning':
    'Hat Ihnen jemand diesen Code oder Link geschickt? Dann brechen Sie ab: Diese Person bekäme Zugriff auf Ihr Konto.',
  'device.continue': 'Weiter',
  'device.other': 'Anderen Code eingeben',
  'device.from':
    'Die Anfrage kommt von einem Gerät mit der Adresse <b>{address}</b>. Es zeigt den Code <b>{code}</b> an.',
  'device.problem.unknown':
    'Dieser Code ist falsch oder abgelaufen. Vergleichen Sie ihn mit dem Code auf Ihrem Gerät.',
  'device.problem.throttled':
    'Zu viele falsche Codes. Versuchen Sie es in {minutes, plural, one {# Minute} other {# Minuten}} noch einmal.',
  'flash.device_connected': '{client} auf Ihrem Gerät hat jetzt Zugriff. Sie können diese Seite schließen.',
  'flash.device_denied': 'Das Gerät wurde nicht verbunden. Sie können diese Seite schließen.',

  'error.client_missing.title': 'In diesem Link fehlt die Anwendung',
  'error.client_missing.what':
    'Der Link, über den Sie hierhergekommen sind, gibt nicht an, welche Anwendung auf Ihr Konto zugreifen möchte.',
  'error.client_unknown.title': 'Anwendung nicht gefunden',
  'error.client_unknown.what':
    'Dieser Link gehört zu einer Anwendung, die hier nicht registriert ist. Vielleicht enthält er einen Tippfehler, oder die Anwendung wurde entfernt.',
  'error.client_document.title': 'Diese Anwendung lässt sich nicht identifizieren',
  'error.client_document.what':
    'Die Anwendung beschreibt sich in einem Dokument auf ihrer Website. Es kann nicht geladen werden oder enthält einen Fehler.',
  'error.client_disabled.title': 'Diese Anwendung ist gesperrt',
  'error.client_disabled.what':
    'Wir haben die Anwendung gesperrt, von der Sie gekommen sind. Sie kann nicht auf Ihr Konto zugreifen, auch wenn Sie es früher erlaubt haben.',
  'error.client_testing.title': 'Diese Anwendung ist in der Testphase',
  'error.client_testing.what':
    'Wir haben diese Anwendung noch nicht geprüft. Bis dahin können sie nur ihre Eigentümer und die von ihnen eingeladenen Tester verwenden.',
  'error.redirect_missing.title': 'Die Rücksprungadresse fehlt',
  'error.redirect_missing.what':
    'Der Link muss eine der registrierten Adressen der Anwendung (redirect_uri) enthalten, aber sie fehlt.',
  'error.redirect_mismatch.title': 'Die Rücksprungadresse ist nicht registriert',
  'error.redirect_mismatch.what':
    'Zum Schutz Ihres Kontos leiten wir nur zu Adressen weiter, die für die Anwendung registriert sind. Die Adresse im Link stimmt mit keiner davon genau überein.',
  'error.parameter_malformed.title': 'Der Link ist beschädigt',
  'error.parameter_malformed.what':
    'Ein Teil des Links, über den Sie hierhergekommen sind, ist zu lang, doppelt oder nicht lesbar. E‑Mail- und Chat-Programme schneiden Links manchmal ab.',
  'error.request_malformed.title': 'Dieser Link funktioniert hier nicht',
  'error.request_malformed.what':
    'Der Link muss eine Anfrage (request_uri) enthalten, die dieser Dienst ausgestellt hat. Die Anfrage in diesem Link wurde nicht hier ausgestellt.',
  'error.request_expired.title': 'Diese Anfrage ist abgelaufen',
  'error.request_expired.what':
    'Anfragen von Anwendungen sind nur kurze Zeit gültig. Diese ist abgelaufen, oder sie gehört zu einer anderen Anwendung.',
  'error.request_answered.title': 'Sie haben diese Anfrage bereits beantwortet',
  'error.request_answered.what':
    'Jede Anfrage kann nur einmal beantwortet werden. Ihre frühere Entscheidung gilt weiterhin.',
  'error.form_incomplete.title': 'Das Formular ist unvollständig',
  'error.form_incomplete.what': 'Wir haben keine gültige Auswahl erhalten. Es wurde nichts geändert.',
  'error.form_outdated.title': 'Diese Seite ist nicht mehr aktuell',
  'error.form_outdated.what':
    'Seit Sie diese Seite geöffnet haben, hat sich jemand in einem anderen Tab dieses Browsers an- oder abgemeldet, oder der Browser wurde geschlossen.',
  'error.form_foreign.title': 'Dieses Formular kam von einer anderen Website',
  'error.form_foreign.what':
    'Das Formular wurde nicht von einer unserer Seiten gesendet. Deshalb haben wir es abgelehnt.',
  'error.logged_in_elsewhere.title': 'In diesem Browser ist bereits jemand angemeldet',
  'error.logged_in_elsewhere.what':
    'Seit Sie diese Seite geöffnet haben, hat sich {name} in einem anderen Tab dieses Browsers angemeldet.',
  'error.cookie_missing.title': 'Ihr Browser hat unser Cookie nicht gesendet',
  'error.cookie_missing.what':
    'Zum Anmelden werden Cookies benötigt. Vielleicht blockiert Ihr Browser sie, ein privates oder eingebettetes Fenster hat sie verworfen, oder der Browser wurde geschlossen, nachdem Sie die Seite geöffnet hatten.',
  'error.cookie_host.title': 'Diese Seite wurde unter einer anderen Adresse geöffnet',
  'error.cookie_host.what':
    'Sie haben {opened} geöffnet, die richtige Adresse ist aber {right}. Auch wenn beide zum selben Ziel führen, trennt Ihr Browser ihre Cookies.',
  'error.cookie_http.title': 'Diese Seite wurde nicht über https geöffnet',
  'error.cookie_http.what':
    'Sie haben {opened} geöffnet, aber Sie können sich nur unter {right} anmelden. Ihr Browser sendet unser Cookie nur über verschlüsselte Verbindungen.',
  'error.cookie_https.title': 'Dieser Dienst ist für eine andere Adresse eingerichtet',
  'error.cookie_https.what': 'Sie haben {opened} geöffnet, aber dieser Dienst ist für {right} eingerichtet.',
  'error.request_unreadable.title': 'Wir konnten Ihre Anfrage nicht lesen',
  'error.request_unreadable.what':
    'Die empfangenen Daten sind kein gültiges Formular. Es wurde nichts geändert.',
  'error.not_found.title': 'Seite nicht gefunden',
  'error.not_found.what': 'Unter dieser Adresse gibt es keine Seite.',
  'error.method_not_allowed.title': 'Diese Adresse lässt sich so nicht öffnen',
  'error.method_not_allowed.what': 'Die Adresse existiert, nimmt diese Art von Anfrage aber nicht an.',
  'error.too_large.title': 'Das Formular ist zu groß',
  'error.too_large.what': 'Das Formular enthält mehr Daten, als wir annehmen.',
  'error.not_a_form.title': 'Hierher können nur Formulare gesendet werden',
  'error.not_a_form.what': 'Die an diese Adresse gesendeten Daten kamen nicht von einer unserer Seiten.',
  'error.busy.title': 'Gerade melden sich zu viele Personen an',
  'error.busy.what':
    'Wir haben Ihr Passwort noch nicht geprüft. Das zählt nicht als Fehlversuch, und Sie können dort weitermachen, wo Sie aufgehört haben.',
  'error.unavailable.title': 'Unser Dienst ist vorübergehend nicht verfügbar',
  'error.unavailable.what':
    'Ein Teil unseres Dienstes antwortet nicht. Ihr Konto und Ihre früheren Entscheidungen sind davon nicht betroffen.',
  'error.server_error.title': 'Bei uns ist ein Fehler aufgetreten',
  'error.server_error.what': 'Wir konnten Ihre Anfrage nicht abschließen.',

  'error.title': 'Fehler: {title}',
  'guide.title': 'Fehlerverzeichnis',
  'guide.intro':
    'Was die einzelnen Fehler bedeuten und wie Sie sie beheben. Wenn hier nichts weiterhilft, senden Sie dem Betreiber des Dienstes die Fehlerreferenz.',
  'guide.english': 'Die Beschreibungen sind auf Englisch.',
  'error.party.user': 'Sie können das Problem selbst beheben.',
  'error.party.application': 'Dieses Problem kann nur der Entwickler der Anwendung beheben.',
  'error.party.operator': 'Das können nur wir beheben.',
  'error.party.nobody': 'Ihre Anfrage ist in Ordnung. Das Problem besteht nur vorübergehend.',
  'error.advice.start_at_application': 'Gehen Sie zurück zur Anwendung, und beginnen Sie dort noch einmal.',
  'error.advice.contact_developer':
    'Wenden Sie sich an den Entwickler, und geben Sie die Referenz unten an. Ein neuer Versuch hilft nicht.',
  'error.advice.retry_or_contact_developer':
    'Gehen Sie zurück zur Anwendung, und versuchen Sie es noch einmal. Tritt das Problem wieder auf, wenden Sie sich an den Entwickler der Anwendung, und geben Sie die Referenz unten an.',
  'error.advice.open_again': 'Öffnen Sie die Seite neu, und versuchen Sie es noch einmal.',
  'error.advice.start_again': 'Beginnen Sie hier noch einmal. Es wurde nichts geändert.',
  'error.advice.continue': 'Klicken Sie auf „Weiter“, um dieses Konto zu verwenden.',
  'error.advice.allow_cookies':
    'Erlauben Sie in den Einstellungen Ihres Browsers Cookies für diese Website. Wird diese Seite innerhalb einer anderen App angezeigt, öffnen Sie sie in Ihrem Browser. Beginnen Sie dann noch einmal. Es wurde nichts geändert.',
  'error.advice.close': 'Schließen Sie diese Seite. Es wurde nichts geändert.',
  'error.advice.check_address':
    'Prüfen Sie die Adresse, oder gehen Sie zurück zu der Anwendung, von der Sie gekommen sind.',
  'error.advice.enter_less': 'Gehen Sie zurück, und geben Sie weniger Text ein.',
  'error.advice.wait': 'Warten Sie einen Moment, und versuchen Sie es dann noch einmal.',
  'error.advice.contact_us':
    'Versuchen Sie es noch einmal. Tritt das Problem wieder auf, wenden Sie sich an uns, und geben Sie die Referenz unten an.',
  'error.advice.review_apps':
    'Sie müssen nichts tun. Unter „Verbundene Anwendungen“ können Sie der Anwendung den Zugriff dauerhaft entziehen. Wenn Sie Fragen haben, wenden Sie sich an uns, und geben Sie die Referenz unten an.',
  'error.advice.ask_invitation':
    'Wenn Sie mit einem anderen Konto eingeladen wurden, melden Sie sich mit diesem an. Bitten Sie sonst den Entwickler um eine Einladung. Es wurde nichts geändert.',
  'error.button.again': 'Erneut versuchen',
  'error.button.start_again': 'Neu beginnen',
  'error.button.continue': 'Weiter',
  'error.reference': 'Referenz:',
  'error.details': 'Für Entwickler',
  'error.detail.code': 'Fehlercode',
  'error.detail.check': 'Fehlgeschlagene Prüfung',
  'error.detail.description': 'Beschreibung',
  'error.detail.parameters': 'Parameter in der Adresse',
  'error.causes': 'Häufige Ursachen',
  'error.hint.slash': 'Eine der beiden Adressen endet mit einem Schrägstrich, die andere nicht.',
  'error.hint.scheme': 'Eine beginnt mit http, die andere mit https.',
  'error.hint.port':
    'Host oder Port unterscheiden sich: localhost ist nicht dasselbe wie 127.0.0.1, und auch www. zählt.',
  'error.hint.encoding':
    'Eine ist doppelt oder gar nicht prozentkodiert, hat einen zusätzlichen Parameter oder unterscheidet sich in der Groß- und Kleinschreibung.',
  'error.registered':
    'Vergleichen Sie die Adresse mit den Redirect-URIs, die für diesen Client registriert sind. Der Betreiber dieses Dienstes kann sie mit {show} anzeigen und mit {add} eine hinzufügen.',
  'error.hint.auth_url':
    'Diese Anfrage ging an {opened}, aber AUTH_URL ist {right}. Ein vorgeschalteter Proxy muss den Host-Header weitergeben.',
  'error.hint.secure':
    'Browser senden Secure-Cookies nur über https. Ein Proxy, der TLS terminiert, muss X-Forwarded-Proto senden.',
  'error.hint.proxy':
    'Ein Proxy hat X-Forwarded-…-Header gesendet, aber TRUSTED_PROXIES schließt seine Adresse nicht ein.',

  'login.signed_jwt': 'Sie sind angemeldet. Klicken Sie auf „Weiter“, um abzuschließen.',
  'error.advice.ask_support': 'Wenden Sie sich an den Support, um Ihr Konto freischalten zu lassen.',
  'error.login_outdated.title': 'Diese Anmeldung ist abgelaufen',
  'error.login_outdated.what':
    'Die Anmeldung hat zu lange gedauert, sie wurde in einem anderen Browser begonnen, oder Ihr Browser hat unser Cookie nicht gespeichert.',
  'error.login_cancelled.title': 'Sie sind nicht angemeldet',
  'error.login_cancelled.what': 'Die Anmeldung wurde abgebrochen.',
  'error.login_refused.title': 'Anmeldung fehlgeschlagen',
  'error.login_refused.what': 'Wir konnten die Antwort der Anmeldeseite nicht annehmen.',
  'error.login_disabled.title': 'Ihr Konto ist gesperrt',
  'error.login_disabled.what':
    'Die Anmeldung war erfolgreich, aber dieses Konto kann hier nicht verwendet werden.',
  'error.login_unavailable.title': 'Die Anmeldung ist vorübergehend nicht möglich',
  'error.login_unavailable.what':
    'Die Anmeldeseite antwortet nicht. Sie können später dort weitermachen, wo Sie aufgehört haben.',

  'logout.title': 'Von {product} abmelden?',
  'logout.client': '{client} möchte Sie abmelden.',
  'logout.stay': 'Angemeldet bleiben',
  'error.logout_malformed.title': 'Dieser Link zum Abmelden funktioniert nicht',
  'error.logout_malformed.what':
    'Der Link enthält ein ID-Token (id_token_hint), das wir nicht für diese Anwendung ausgestellt haben.',
  'error.logout_client_missing.title': 'Im Link zum Abmelden fehlt die Anwendung',
  'error.logout_client_missing.what':
    'Nach dem Abmelden leiten wir nur zu Adressen weiter, die für eine Anwendung registriert sind. Der Link enthält eine Adresse, aber weder ein ID-Token (id_token_hint) noch eine client_id.',
  'error.logout_redirect.title': 'Die Adresse nach dem Abmelden ist nicht registriert',
  'error.logout_redirect.what':
    'Nach dem Abmelden leiten wir nur zu Adressen weiter, die für die Anwendung registriert sind. Die Adresse im Link stimmt mit keiner davon genau überein.',
};
