/**
 * Page texts in ICU MessageFormat. `<b>` emphasizes, and `<a>` is a link. A message that another language lacks is a
 * type error there.
 */
export const EN = {
  'account.title': 'Your account',
  'account.switch': 'Use another account',
  'account.switch_hint': 'You will be logged out first. Then you can log in with another account.',
  'account.apps_hint': 'See which applications can access your account, and remove their access.',
  'account.language': 'Language',
  'account.language_browser': 'Browser default',
  'account.language_save': 'Save language',
  'account.log_out': 'Log out',
  'account.log_out_everywhere': 'Log out everywhere',
  'account.log_out_everywhere_hint':
    'You will be logged out in this browser and in all others. Connected applications keep their access.',
  'flash.language': 'Language saved.',
  'flash.logged_out': 'You have been logged out.',
  'flash.logged_out_everywhere': 'You have been logged out everywhere.',
  'login.title': 'Log in',
  'login.error_title': 'Error: Log in',
  'login.continue': 'to continue to {client}',
  'login.again': 'Log in again as {name}.',
  'login.username': 'Email or username',
  'login.password': 'Password',
  'login.show_password': 'Show password',
  'login.submit': 'Log in',
  'login.problem.missing': 'Enter your email or username, and your password.',
  'login.problem.username_long': 'The email or username must not be longer than {max, number} characters.',
  'login.problem.password_long': 'The password must not be longer than {max, number} characters.',
  'login.problem.wrong': 'Incorrect username or password.',
  'login.problem.disabled': 'This account is disabled. Contact support to have it enabled.',
  'login.problem.throttled':
    'Too many attempts. Try again in {minutes, plural, one {# minute} other {# minutes}}, or use a browser where you have logged in to this account before.',

  'apps.title': 'Connected applications',
  'apps.intro': 'These applications can access your account.',
  'apps.empty': 'No applications are connected to your account.',
  'apps.empty_hint': 'Applications that you allow will appear here, where you can remove their access.',
  'apps.disabled': 'This application has been disabled and cannot access your account.',
  'apps.since': 'Access granted on {date}.',
  'apps.connected_since': 'Connected since {date}.',
  'apps.last_used': 'Last used on {date}.',
  'apps.not_used': 'Not used yet.',
  'apps.revoke': 'Remove access',
  'apps.revoke_one': 'Remove access: {client}',
  'apps.revoke_all': 'Remove all access',
  'apps.pages': 'More applications',
  'apps.page': 'Page {page, number} of {pages, number}',
  'apps.next': 'Next page',
  'apps.previous': 'Previous page',
  'apps.back': 'Back to your account',
  'revoke.title': 'Remove access for {client}?',
  'revoke.what':
    '{client} will immediately lose access to your account on all devices. It may keep data that it has already received. You can allow access again at any time.',
  'revoke_all.title': '{count, plural, one {Remove access?} other {Remove all access?}}',
  'revoke_all.what':
    '{count, plural, one {# application} other {# applications}} will immediately lose access to your account on all devices. {count, plural, one {It may keep data that it has} other {They may keep data that they have}} already received.',
  'revoke.incomplete_title': 'Error: access not removed everywhere yet',
  'revoke.incomplete': 'Access not removed everywhere yet',
  'revoke.incomplete_what':
    'Your decision has been saved, but part of our service is not responding. Access may still work for a while.',
  'revoke.incomplete_advice': 'Wait a moment, then try again. It is safe to do this more than once.',
  'flash.revoked': '{client} can no longer access your account.',
  'flash.revoked_soon':
    'Access for {client} has been removed. It may take up to {seconds, number} seconds to take effect everywhere.',
  'flash.all_revoked': 'No application can access your account any more.',
  'flash.all_revoked_soon':
    'All access has been removed. It may take up to {seconds, number} seconds to take effect everywhere.',
  'flash.not_connected': 'This application has no access to your account.',

  'brand.product': 'Back to {product}',
  'brand.privacy': 'Privacy',
  'brand.terms': 'Terms',
  'brand.help': 'Help',

  // The texts of the scopes are in the scope file.
  'consent.title': 'Allow {client} to access your account?',
  'consent.error_title': 'Error: Allow {client} to access your account?',
  'consent.heading': '{client} wants to access your {product} account',
  'consent.third_party': 'Third-party application',
  'consent.first_party': 'Official {product} application',
  'consent.testing':
    '{client} is in testing: {product} has not reviewed it. Its access ends after {days, plural, one {# day} other {# days}}.',
  'consent.registered': 'Registered on {date}',
  'consent.goes_to.site': 'You will be redirected to <b>{place}</b>',
  'consent.goes_to.device': 'You will be redirected to an app on this device: <b>{place}</b>',
  'consent.own_start':
    'Did you just start this application yourself? Otherwise select Cancel: any app on this device could be using its name.',
  'continuation.title': 'Continue to {client}',
  'continuation.hint': 'If nothing happens, select the button.',
  'consent.apis': 'Access is limited to <b>{apis}</b>',
  'consent.account': 'Logged in as <b>{name}</b>',
  'consent.not_you': 'Not you? Use another account',
  'consent.may': 'This will allow {client} to:',
  'consent.may_new': 'This will also allow {client} to:',
  'consent.optional': 'You can also allow {client} to:',
  'consent.optional_only': 'Choose what {client} can do:',
  'consent.before': 'Your earlier decisions',
  'consent.before_required': '{client} can already:',
  'consent.before_optional': 'You can change these choices:',
  'client.home': 'Website',
  'client.policy': 'Privacy policy',
  'scope.read': 'Read access',
  'scope.write': 'Write access',
  'consent.undo': 'You can remove access at any time in <a>Connected applications</a>.',
  'consent.allow': 'Allow',
  'consent.cancel': 'Cancel',
  'consent.problem.nothing': 'Select at least one permission, or choose Cancel.',

  // Device authorization grant (RFC 8628).
  'device.title': 'Connect a device',
  'device.error_title': 'Error: Connect a device',
  'device.code': 'Code shown on your device',
  'device.compare': 'Check that your device shows this code:',
  'device.warning':
    'Did somebody send you this code or link? Then do not continue: they would get access to your account.',
  'device.continue': 'Continue',
  'device.other': 'Enter another code',
  'device.from': 'A device at the address <b>{address}</b> asks for this. It shows the code <b>{code}</b>.',
  'device.problem.unknown': 'This code is wrong or has expired. Compare it with the code on your device.',
  'device.problem.throttled':
    'Too many wrong codes. Try again in {minutes, plural, one {# minute} other {# minutes}}.',
  'flash.device_connected': '{client} on your device now has access. You can close this page.',
  'flash.device_denied': 'The device was not connected. You can close this page.',

  'error.client_missing.title': 'This link does not specify an application',
  'error.client_missing.what':
    'The link that brought you here does not specify which application wants to access your account.',
  'error.client_unknown.title': 'Application not found',
  'error.client_unknown.what':
    'This link is for an application that is not registered here. The link may contain a typo, or the application may have been removed.',
  'error.client_document.title': 'This application cannot be identified',
  'error.client_document.what':
    'The application describes itself in a document on its website. The document cannot be loaded, or it contains an error.',
  'error.client_disabled.title': 'This application is disabled',
  'error.client_disabled.what':
    'We have disabled the application that sent you here. It cannot access your account, even if you allowed it before.',
  'error.client_testing.title': 'This application is in testing',
  'error.client_testing.what':
    'We have not reviewed this application yet. Until then, only its owners and the testers whom they invited can use it.',
  'error.redirect_missing.title': 'The return address is missing',
  'error.redirect_missing.what':
    'The link must include one of the application’s registered addresses (redirect_uri), but it does not include any.',
  'error.redirect_mismatch.title': 'The return address is not registered',
  'error.redirect_mismatch.what':
    'To protect your account, we only redirect to addresses that the application has registered. The address in the link does not exactly match any of them.',
  'error.parameter_malformed.title': 'The link is damaged',
  'error.parameter_malformed.what':
    'Part of the link that brought you here is too long, repeated or unreadable. Email and chat apps sometimes cut off links.',
  'error.request_malformed.title': 'This link does not work here',
  'error.request_malformed.what':
    'The link must contain a request (request_uri) that this service issued. The request in this link was not issued here.',
  'error.request_expired.title': 'This request has expired',
  'error.request_expired.what':
    'Requests from applications are only valid for a short time. This one has expired, or it was made for another application.',
  'error.request_answered.title': 'You have already answered this request',
  'error.request_answered.what':
    'Each request can be answered only once. Your earlier decision still applies.',
  'error.form_incomplete.title': 'The form is incomplete',
  'error.form_incomplete.what': 'We did not receive a valid choice. Nothing has been changed.',
  'error.form_outdated.title': 'This page is out of date',
  'error.form_outdated.what':
    'Since you opened this page, someone has logged in or out in another tab of this browser, or the browser was closed.',
  'error.form_foreign.title': 'This form came from another site',
  'error.form_foreign.what': 'The form was not sent from one of our pages, so we rejected it.',
  'error.logged_in_elsewhere.title': 'This browser is already logged in',
  'error.logged_in_elsewhere.what':
    'Since you opened this page, {name} has logged in from another tab of this browser.',
  'error.cookie_missing.title': 'Your browser did not send our cookie',
  'error.cookie_missing.what':
    'Cookies are required to log in. Your browser may block them, a private or embedded window may have discarded them, or the browser was closed after you opened the page.',
  'error.cookie_host.title': 'This page was opened at a different address',
  'error.cookie_host.what':
    'You opened {opened}, but the correct address is {right}. Even if both lead to the same place, your browser keeps their cookies separate.',
  'error.cookie_http.title': 'This page was not opened over https',
  'error.cookie_http.what':
    'You opened {opened}, but you can only log in at {right}. Your browser sends our cookie over encrypted connections only.',
  'error.cookie_https.title': 'This service is configured for a different address',
  'error.cookie_https.what': 'You opened {opened}, but this service is configured for {right}.',
  'error.request_unreadable.title': 'We could not read your request',
  'error.request_unreadable.what': 'The data that we received is not a valid form. Nothing has been changed.',
  'error.not_found.title': 'Page not found',
  'error.not_found.what': 'There is no page at this address.',
  'error.method_not_allowed.title': 'This address cannot be opened this way',
  'error.method_not_allowed.what': 'The address exists, but it does not accept this kind of request.',
  'error.too_large.title': 'The form is too large',
  'error.too_large.what': 'The form contains more data than we accept.',
  'error.not_a_form.title': 'Only forms can be sent here',
  'error.not_a_form.what': 'The data sent to this address did not come from one of our pages.',
  'error.busy.title': 'Too many people are logging in right now',
  'error.busy.what':
    'We have not checked your password. This does not count as a failed attempt, and you can continue where you left off.',
  'error.unavailable.title': 'Our service is temporarily unavailable',
  'error.unavailable.what':
    'Part of our service is not responding. Your account and your earlier decisions are not affected.',
  'error.server_error.title': 'Something went wrong on our end',
  'error.server_error.what': 'We could not complete your request.',

  // The page at `error_uri`, and texts that all error pages share.
  'error.title': 'Error: {title}',
  'guide.title': 'Error reference',
  'guide.intro':
    'What each error means and how to fix it. If nothing here helps, send the error reference to the operator of the service.',
  'guide.english': 'The descriptions are in English.',
  'error.party.user': 'You can fix this yourself.',
  'error.party.application': 'Only the developer of the application can fix this.',
  'error.party.operator': 'Only we can resolve this.',
  'error.party.nobody': 'Your request is fine. This problem is temporary.',
  'error.advice.start_at_application': 'Go back to the application and start again from there.',
  'error.advice.contact_developer':
    'Contact the developer and include the reference below. Trying again will not help.',
  'error.advice.retry_or_contact_developer':
    'Go back to the application and try again. If this keeps happening, contact the developer of the application and include the reference below.',
  'error.advice.open_again': 'Open the page again and retry.',
  'error.advice.start_again': 'Start again from here. Nothing has been changed.',
  'error.advice.continue': 'Select Continue to use that account.',
  'error.advice.allow_cookies':
    'Allow cookies for this site in your browser settings. If this page is shown inside another app, open it in your browser. Then start again. Nothing has been changed.',
  'error.advice.close': 'Close this page. Nothing has been changed.',
  'error.advice.check_address': 'Check the address, or go back to the application that sent you here.',
  'error.advice.enter_less': 'Go back and enter less text.',
  'error.advice.wait': 'Wait a moment, then try again.',
  'error.advice.contact_us':
    'Try again. If this keeps happening, contact us and include the reference below.',
  'error.advice.review_apps':
    'You do not need to do anything. To remove its access permanently, go to your connected applications. If you have questions, contact us and include the reference below.',
  'error.advice.ask_invitation':
    'If you were invited with another account, log in with that account. Otherwise ask the developer for an invitation. Nothing has been changed.',
  'error.button.again': 'Try again',
  'error.button.start_again': 'Start again',
  'error.button.continue': 'Continue',
  'error.reference': 'Reference:',
  'error.details': 'For developers',
  'error.detail.code': 'Error code',
  'error.detail.check': 'Failed check',
  'error.detail.description': 'Description',
  'error.detail.parameters': 'Parameters in the address',
  'error.causes': 'Common causes',
  'error.hint.slash': 'One of the two addresses ends with a slash, the other does not.',
  'error.hint.scheme': 'One begins with http, the other with https.',
  'error.hint.port': 'The host or port differs: localhost is not 127.0.0.1, and www. matters.',
  'error.hint.encoding':
    'One is percent-encoded twice or not at all, has an extra parameter, or differs in letter case.',
  'error.registered':
    'Compare the address with the redirect URIs registered for this client. The operator of this service can list them with {show} and add one with {add}.',
  'error.hint.auth_url':
    'This request came to {opened}, but AUTH_URL is {right}. A proxy in front of the service must forward the Host header.',
  'error.hint.secure':
    'Browsers send Secure cookies over https only. A proxy that terminates TLS must send X-Forwarded-Proto.',
  'error.hint.proxy': 'A proxy sent X-Forwarded-… headers, but TRUSTED_PROXIES does not cover its address.',

  'login.signed_jwt': 'You are logged in. Select Continue to finish.',
  'error.advice.ask_support': 'Contact support to have your account enabled.',
  'error.login_outdated.title': 'This login has expired',
  'error.login_outdated.what':
    'The login took too long, it was started in another browser, or your browser did not keep our cookie.',
  'error.login_cancelled.title': 'You are not logged in',
  'error.login_cancelled.what': 'The login was cancelled.',
  'error.login_refused.title': 'Login failed',
  'error.login_refused.what': 'We could not accept the response from the login page.',
  'error.login_disabled.title': 'Your account is disabled',
  'error.login_disabled.what': 'You logged in successfully, but this account cannot be used here.',
  'error.login_unavailable.title': 'Login is temporarily unavailable',
  'error.login_unavailable.what': 'The login page is not responding. You can continue where you left off.',

  // A log-out that an application requests, and its errors.
  'logout.title': 'Log out of {product}?',
  'logout.client': '{client} wants to log you out.',
  'logout.stay': 'Stay logged in',
  'error.logout_malformed.title': 'This log-out link does not work',
  'error.logout_malformed.what':
    'The link contains an ID token (id_token_hint) that we did not issue to this application.',
  'error.logout_client_missing.title': 'This log-out link does not specify an application',
  'error.logout_client_missing.what':
    'After a log-out, we only redirect to addresses that an application has registered. The link has an address, but neither an ID token (id_token_hint) nor a client_id.',
  'error.logout_redirect.title': 'The address after the log-out is not registered',
  'error.logout_redirect.what':
    'After a log-out, we only redirect to addresses that the application has registered. The address in the link does not exactly match any of them.',
} as const;

export type MessageId = keyof typeof EN;

export type Messages = Readonly<Record<MessageId, string>>;
