import type { Messages } from './en.js';

export const PT: Messages = {
  'account.title': 'A sua conta',
  'account.switch': 'Utilizar outra conta',
  'account.switch_hint':
    'Primeiro, a sua sessão será terminada. Depois, pode iniciar sessão com outra conta.',
  'account.apps_hint': 'Veja que aplicações têm acesso à sua conta e remova esse acesso.',
  'account.language': 'Idioma',
  'account.language_browser': 'Idioma do navegador',
  'account.language_save': 'Guardar o idioma',
  'account.log_out': 'Terminar sessão',
  'account.log_out_everywhere': 'Terminar sessão em todo o lado',
  'account.log_out_everywhere_hint':
    'A sua sessão será terminada neste navegador e em todos os outros. As aplicações ligadas mantêm o acesso.',
  'flash.language': 'Idioma guardado.',
  'flash.logged_out': 'A sua sessão foi terminada.',
  'flash.logged_out_everywhere': 'A sua sessão foi terminada em todo o lado.',
  'login.title': 'Iniciar sessão',
  'login.error_title': 'Erro: Iniciar sessão',
  'login.continue': 'para continuar para {client}',
  'login.again': 'Inicie sessão novamente como {name}.',
  'login.username': 'E-mail ou nome de utilizador',
  'login.password': 'Palavra-passe',
  'login.show_password': 'Mostrar a palavra-passe',
  'login.submit': 'Iniciar sessão',
  'login.problem.missing': 'Introduza o seu e‑mail ou nome de utilizador e a sua palavra-passe.',
  'login.problem.username_long':
    'O e‑mail ou nome de utilizador não pode ter mais de {max, number} caracteres.',
  'login.problem.password_long': 'A palavra-passe não pode ter mais de {max, number} caracteres.',
  'login.problem.wrong': 'O nome de utilizador ou a palavra-passe está incorreto.',
  'login.problem.disabled': 'Esta conta está desativada. Contacte o apoio ao cliente para a reativar.',
  'login.problem.throttled':
    'Demasiadas tentativas. Tente novamente dentro de {minutes, plural, one {# minuto} other {# minutos}} ou utilize um navegador em que já tenha iniciado sessão nesta conta.',

  'apps.title': 'Aplicações ligadas',
  'apps.intro': 'Estas aplicações têm acesso à sua conta.',
  'apps.empty': 'Não há aplicações ligadas à sua conta.',
  'apps.empty_hint': 'As aplicações que autorizar aparecerão aqui, onde também poderá remover o acesso.',
  'apps.disabled': 'Esta aplicação foi desativada e não pode aceder à sua conta.',
  'apps.since': 'Acesso permitido em {date}.',
  'apps.connected_since': 'Ligada desde {date}.',
  'apps.last_used': 'Usada pela última vez em {date}.',
  'apps.not_used': 'Ainda não foi usada.',
  'apps.revoke': 'Remover acesso',
  'apps.revoke_one': 'Remover acesso: {client}',
  'apps.revoke_all': 'Remover todos os acessos',
  'apps.pages': 'Mais aplicações',
  'apps.page': 'Página {page, number} de {pages, number}',
  'apps.next': 'Página seguinte',
  'apps.previous': 'Página anterior',
  'apps.back': 'Voltar à sua conta',
  'revoke.title': 'Remover o acesso de {client}?',
  'revoke.what':
    '{client} perderá imediatamente o acesso à sua conta em todos os dispositivos. Pode conservar os dados que já recebeu. Poderá voltar a permitir o acesso a qualquer momento.',
  'revoke_all.title': '{count, plural, one {Remover o acesso?} other {Remover todos os acessos?}}',
  'revoke_all.what':
    '{count, plural, one {# aplicação perderá} other {# aplicações perderão}} imediatamente o acesso à sua conta em todos os dispositivos. {count, plural, one {Pode conservar os dados que já recebeu} other {Podem conservar os dados que já receberam}}.',
  'revoke.incomplete_title': 'Erro: o acesso ainda não foi removido em todo o lado',
  'revoke.incomplete': 'O acesso ainda não foi removido em todo o lado',
  'revoke.incomplete_what':
    'A sua decisão foi guardada, mas uma parte do nosso serviço não responde. O acesso ainda pode funcionar durante algum tempo.',
  'revoke.incomplete_advice': 'Aguarde um momento e tente novamente. Pode fazê-lo várias vezes sem problema.',
  'flash.revoked': '{client} já não tem acesso à sua conta.',
  'flash.revoked_soon':
    'O acesso de {client} foi removido. Pode demorar até {seconds, number} segundos a ter efeito em todo o lado.',
  'flash.all_revoked': 'Nenhuma aplicação tem agora acesso à sua conta.',
  'flash.all_revoked_soon':
    'Todos os acessos foram removidos. Pode demorar até {seconds, number} segundos a ter efeito em todo o lado.',
  'flash.not_connected': 'Esta aplicação não tem acesso à sua conta.',

  'brand.product': 'Voltar a {product}',
  'brand.privacy': 'Privacidade',
  'brand.terms': 'Termos',
  'brand.help': 'Ajuda',

  'consent.title': 'Permitir que {client} aceda à sua conta?',
  'consent.error_title': 'Erro: Permitir que {client} aceda à sua conta?',
  'consent.heading': '{client} pretende aceder à sua conta {product}',
  'consent.third_party': 'Aplicação de terceiros',
  'consent.first_party': 'Aplicação oficial de {product}',
  'consent.testing':
    '{client} está em fase de testes: {product} não a analisou. O acesso termina ao fim de {days, plural, one {# dia} other {# dias}}.',
  'consent.registered': 'Registada em {date}',
  'consent.goes_to.site': 'Será redirecionado para <b>{place}</b>',
  'consent.goes_to.device': 'Será redirecionado para uma aplicação neste dispositivo: <b>{place}</b>',
  'consent.own_start':
    'Acabou de iniciar esta aplicação? Se não, cancele: qualquer aplicação neste dispositivo pode estar a usar o nome dela.',
  'continuation.title': 'Continuar para {client}',
  'continuation.hint': 'Se nada acontecer, selecione o botão.',
  'consent.apis': 'O acesso está limitado a <b>{apis}</b>',
  'consent.account': 'Sessão iniciada como <b>{name}</b>',
  'consent.not_you': 'Não é você? Utilizar outra conta',
  'consent.may': 'Isto permitirá a {client}:',
  'consent.may_new': 'Isto também permitirá a {client}:',
  'consent.optional': 'Também pode permitir a {client}:',
  'consent.optional_only': 'Escolha o que {client} poderá fazer:',
  'consent.before': 'As suas decisões anteriores',
  'consent.before_required': '{client} já pode:',
  'consent.before_optional': 'Pode alterar estas opções:',
  'client.home': 'Site',
  'client.policy': 'Política de privacidade',
  'scope.read': 'Acesso de leitura',
  'scope.write': 'Acesso de escrita',
  'consent.undo': 'Pode remover o acesso a qualquer momento em <a>Aplicações ligadas</a>.',
  'consent.allow': 'Permitir',
  'consent.cancel': 'Cancelar',
  'consent.problem.nothing': 'Selecione pelo menos uma permissão ou escolha «Cancelar».',

  'device.title': 'Ligar um dispositivo',
  'device.error_title': 'Erro: Ligar um dispositivo',
  'device.code': 'Código apresentado no seu dispositivo',
  'device.compare': 'Verifique se o seu dispositivo apresenta este código:',
  'device.warning':
    'Alguém lhe enviou este código ou esta ligação? Então não continue: essa pessoa obteria acesso à sua conta.',
  'device.continue': 'Continuar',
  'device.other': 'Introduzir outro código',
  'device.from':
    'O pedido vem de um dispositivo com o endereço <b>{address}</b>. Este apresenta o código <b>{code}</b>.',
  'device.problem.unknown': 'Este código está errado ou expirou. Compare-o com o código no seu dispositivo.',
  'device.problem.throttled':
    'Demasiados códigos errados. Tente novamente dentro de {minutes, plural, one {# minuto} other {# minutos}}.',
  'flash.device_connected': '{client} já tem acesso no seu dispositivo. Pode fechar esta página.',
  'flash.device_denied': 'O dispositivo não foi ligado. Pode fechar esta página.',

  'error.client_missing.title': 'Esta ligação não indica nenhuma aplicação',
  'error.client_missing.what':
    'A ligação que o trouxe aqui não indica que aplicação pretende aceder à sua conta.',
  'error.client_unknown.title': 'Aplicação não encontrada',
  'error.client_unknown.what':
    'Esta ligação é de uma aplicação que não está registada aqui. Pode conter um erro, ou a aplicação pode ter sido removida.',
  'error.client_document.title': 'Não é possível identificar esta aplicação',
  'error.client_document.what':
    'A aplicação descreve-se num documento no seu site. O documento não pode ser carregado ou contém um erro.',
  'error.client_disabled.title': 'Esta aplicação está desativada',
  'error.client_disabled.what':
    'Desativámos a aplicação que o enviou para aqui. Ela não pode aceder à sua conta, mesmo que a tenha autorizado antes.',
  'error.client_testing.title': 'Esta aplicação está em fase de testes',
  'error.client_testing.what':
    'Ainda não analisámos esta aplicação. Até lá, só os seus proprietários e os testadores que convidaram a podem utilizar.',
  'error.redirect_missing.title': 'Falta o endereço de retorno',
  'error.redirect_missing.what':
    'A ligação tem de incluir um dos endereços registados da aplicação (redirect_uri), mas não inclui nenhum.',
  'error.redirect_mismatch.title': 'O endereço de retorno não está registado',
  'error.redirect_mismatch.what':
    'Para proteger a sua conta, só redirecionamos para endereços registados pela aplicação. O da ligação não corresponde exatamente a nenhum deles.',
  'error.parameter_malformed.title': 'A ligação está danificada',
  'error.parameter_malformed.what':
    'Parte da ligação que o trouxe aqui é demasiado longa, está repetida ou é ilegível. As aplicações de e-mail e de chat por vezes cortam as ligações.',
  'error.request_malformed.title': 'Esta ligação não funciona aqui',
  'error.request_malformed.what':
    'A ligação tem de conter um pedido (request_uri) emitido por este serviço. O desta ligação não foi emitido aqui.',
  'error.request_expired.title': 'Este pedido expirou',
  'error.request_expired.what':
    'Os pedidos das aplicações só são válidos durante pouco tempo. Este expirou ou pertence a outra aplicação.',
  'error.request_answered.title': 'Já respondeu a este pedido',
  'error.request_answered.what':
    'Cada pedido só pode ser respondido uma vez. A sua decisão anterior continua válida.',
  'error.form_incomplete.title': 'O formulário está incompleto',
  'error.form_incomplete.what': 'Não recebemos uma opção válida. Nada foi alterado.',
  'error.form_outdated.title': 'Esta página está desatualizada',
  'error.form_outdated.what':
    'Desde que abriu esta página, alguém iniciou ou terminou sessão noutro separador deste navegador, ou o navegador foi fechado.',
  'error.form_foreign.title': 'Este formulário veio de outro site',
  'error.form_foreign.what': 'O formulário não foi enviado de uma das nossas páginas, por isso rejeitámo-lo.',
  'error.logged_in_elsewhere.title': 'Já existe uma sessão iniciada neste navegador',
  'error.logged_in_elsewhere.what':
    'Desde que abriu esta página, {name} iniciou sessão noutro separador deste navegador.',
  'error.cookie_missing.title': 'O seu navegador não enviou o nosso cookie',
  'error.cookie_missing.what':
    'São necessários cookies para iniciar sessão. O seu navegador pode estar a bloqueá-los, uma janela privada ou incorporada pode tê-los eliminado, ou o navegador foi fechado depois de abrir a página.',
  'error.cookie_host.title': 'Esta página foi aberta noutro endereço',
  'error.cookie_host.what':
    'Abriu {opened}, mas o endereço correto é {right}. Mesmo que ambos levem ao mesmo sítio, o seu navegador guarda os cookies em separado.',
  'error.cookie_http.title': 'Esta página não foi aberta através de https',
  'error.cookie_http.what':
    'Abriu {opened}, mas só pode iniciar sessão em {right}. O seu navegador só envia o nosso cookie através de ligações encriptadas.',
  'error.cookie_https.title': 'Este serviço está configurado para outro endereço',
  'error.cookie_https.what': 'Abriu {opened}, mas este serviço está configurado para {right}.',
  'error.request_unreadable.title': 'Não conseguimos ler o seu pedido',
  'error.request_unreadable.what': 'Os dados recebidos não são um formulário válido. Nada foi alterado.',
  'error.not_found.title': 'Página não encontrada',
  'error.not_found.what': 'Não existe nenhuma página neste endereço.',
  'error.method_not_allowed.title': 'Este endereço não pode ser aberto desta forma',
  'error.method_not_allowed.what': 'O endereço existe, mas não aceita este tipo de pedido.',
  'error.too_large.title': 'O formulário é demasiado grande',
  'error.too_large.what': 'O formulário contém mais dados do que aceitamos.',
  'error.not_a_form.title': 'Aqui só podem ser enviados formulários',
  'error.not_a_form.what': 'Os dados enviados para este endereço não vieram de uma das nossas páginas.',
  'error.busy.title': 'Há demasiadas pessoas a iniciar sessão neste momento',
  'error.busy.what':
    'Ainda não verificámos a sua palavra-passe. Isto não conta como tentativa falhada, e pode continuar onde ficou.',
  'error.unavailable.title': 'O nosso serviço está temporariamente indisponível',
  'error.unavailable.what':
    'Uma parte do nosso serviço não responde. A sua conta e as suas decisões anteriores não são afetadas.',
  'error.server_error.title': 'Ocorreu um erro do nosso lado',
  'error.server_error.what': 'Não conseguimos concluir o seu pedido.',

  'error.title': 'Erro: {title}',
  'guide.title': 'Referência de erros',
  'guide.intro':
    'O que significa cada erro e como resolvê-lo. Se nada aqui ajudar, envie a referência do erro ao operador do serviço.',
  'guide.english': 'As descrições estão em inglês.',
  'error.party.user': 'Pode resolver este problema sem ajuda.',
  'error.party.application': 'Só o programador da aplicação pode resolver este problema.',
  'error.party.operator': 'Só nós podemos resolver isto.',
  'error.party.nobody': 'O seu pedido está correto. O problema é temporário.',
  'error.advice.start_at_application': 'Volte à aplicação e comece de novo a partir daí.',
  'error.advice.contact_developer':
    'Contacte o programador e indique a referência abaixo. Tentar novamente não resolve.',
  'error.advice.retry_or_contact_developer':
    'Volte à aplicação e tente novamente. Se o problema persistir, contacte o programador da aplicação e indique a referência abaixo.',
  'error.advice.open_again': 'Abra novamente a página e volte a tentar.',
  'error.advice.start_again': 'Comece de novo a partir daqui. Nada foi alterado.',
  'error.advice.continue': 'Selecione «Continuar» para utilizar essa conta.',
  'error.advice.allow_cookies':
    'Permita os cookies deste site nas definições do seu navegador. Se esta página for apresentada dentro de outra aplicação, abra-a no seu navegador. Depois, comece de novo. Nada foi alterado.',
  'error.advice.close': 'Feche esta página. Nada foi alterado.',
  'error.advice.check_address': 'Verifique o endereço ou volte à aplicação de onde veio.',
  'error.advice.enter_less': 'Volte atrás e introduza menos texto.',
  'error.advice.wait': 'Aguarde um momento e tente novamente.',
  'error.advice.contact_us':
    'Tente novamente. Se o problema persistir, contacte-nos e indique a referência abaixo.',
  'error.advice.review_apps':
    'Não precisa de fazer nada. Para remover definitivamente o acesso, abra as suas aplicações ligadas. Se tiver dúvidas, contacte-nos e indique a referência abaixo.',
  'error.advice.ask_invitation':
    'Se foi convidado com outra conta, inicie sessão com essa conta. Caso contrário, peça um convite ao programador. Nada foi alterado.',
  'error.button.again': 'Tentar novamente',
  'error.button.start_again': 'Começar de novo',
  'error.button.continue': 'Continuar',
  'error.reference': 'Referência:',
  'error.details': 'Para programadores',
  'error.detail.code': 'Código de erro',
  'error.detail.check': 'Verificação falhada',
  'error.detail.description': 'Descrição',
  'error.detail.parameters': 'Parâmetros no endereço',
  'error.causes': 'Causas frequentes',
  'error.hint.slash': 'Um dos dois endereços termina com uma barra e o outro não.',
  'error.hint.scheme': 'Um começa por http e o outro por https.',
  'error.hint.port':
    'O anfitrião ou a porta são diferentes: localhost não é o mesmo que 127.0.0.1, e www. também conta.',
  'error.hint.encoding':
    'Um tem a codificação por percentagem duplicada ou em falta, um parâmetro a mais ou diferenças entre maiúsculas e minúsculas.',
  'error.registered':
    'Compare o endereço com os URI de redirecionamento registados para este cliente. O operador deste serviço pode listá-los com {show} e adicionar um com {add}.',
  'error.hint.auth_url':
    'Este pedido chegou a {opened}, mas AUTH_URL é {right}. Um proxy à frente do serviço tem de reencaminhar o cabeçalho Host.',
  'error.hint.secure':
    'Os navegadores só enviam cookies Secure por https. Um proxy que termina o TLS tem de enviar X-Forwarded-Proto.',
  'error.hint.proxy':
    'Um proxy enviou cabeçalhos X-Forwarded-…, mas TRUSTED_PROXIES não inclui o seu endereço.',

  'login.signed_jwt': 'Iniciou sessão. Selecione «Continuar» para terminar.',
  'error.advice.ask_support': 'Contacte o apoio ao cliente para reativar a sua conta.',
  'error.login_outdated.title': 'Este início de sessão expirou',
  'error.login_outdated.what':
    'O início de sessão demorou demasiado, foi começado noutro navegador ou o seu navegador não guardou o nosso cookie.',
  'error.login_cancelled.title': 'Não iniciou sessão',
  'error.login_cancelled.what': 'O início de sessão foi cancelado.',
  'error.login_refused.title': 'Não foi possível iniciar sessão',
  'error.login_refused.what': 'Não foi possível aceitar a resposta da página de início de sessão.',
  'error.login_disabled.title': 'A sua conta está desativada',
  'error.login_disabled.what': 'Iniciou sessão com êxito, mas esta conta não pode ser utilizada aqui.',
  'error.login_unavailable.title': 'O início de sessão está temporariamente indisponível',
  'error.login_unavailable.what': 'A página de início de sessão não responde. Poderá continuar onde ficou.',

  'logout.title': 'Terminar sessão em {product}?',
  'logout.client': '{client} pretende terminar a sua sessão.',
  'logout.stay': 'Manter a sessão',
  'error.logout_malformed.title': 'Esta ligação para terminar sessão não funciona',
  'error.logout_malformed.what':
    'A ligação contém um token de identidade (id_token_hint) que não emitimos para esta aplicação.',
  'error.logout_client_missing.title': 'Esta ligação para terminar sessão não indica nenhuma aplicação',
  'error.logout_client_missing.what':
    'Depois de terminar a sessão, só redirecionamos para endereços registados por uma aplicação. A ligação contém um endereço, mas nenhum token de identidade (id_token_hint) nem client_id.',
  'error.logout_redirect.title': 'O endereço após terminar a sessão não está registado',
  'error.logout_redirect.what':
    'Depois de terminar a sessão, só redirecionamos para endereços registados pela aplicação. O da ligação não corresponde exatamente a nenhum deles.',
};
