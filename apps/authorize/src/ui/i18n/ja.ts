import type { Messages } from './en.js';

export const JA: Messages = {
  'account.title': 'アカウント',
  'account.switch': '別のアカウントを使う',
  'account.switch_hint': 'いったんログアウトしてから、別のアカウントでログインします。',
  'account.apps_hint': 'アカウントにアクセスできるアプリケーションの確認と、アクセス権の削除',
  'account.language': '言語',
  'account.language_browser': 'ブラウザーの設定に従う',
  'account.language_save': '言語を保存',
  'account.log_out': 'ログアウト',
  'account.log_out_everywhere': 'すべての場所でログアウト',
  'account.log_out_everywhere_hint':
    'このブラウザーとほかのすべてのブラウザーからログアウトします。連携中のアプリケーションのアクセス権はそのまま残ります。',
  'flash.language': '言語を保存しました。',
  'flash.logged_out': 'ログアウトしました。',
  'flash.logged_out_everywhere': 'すべての場所からログアウトしました。',
  'login.title': 'ログイン',
  'login.error_title': 'エラー: ログイン',
  'login.continue': '{client} に進みます',
  'login.again': '{name} としてもう一度ログインしてください。',
  'login.username': 'メールアドレスまたはユーザー名',
  'login.password': 'パスワード',
  'login.show_password': 'パスワードを表示',
  'login.submit': 'ログイン',
  'login.problem.missing': 'メールアドレスまたはユーザー名と、パスワードを入力してください。',
  'login.problem.username_long':
    'メールアドレスまたはユーザー名は {max, number} 文字以内で入力してください。',
  'login.problem.password_long': 'パスワードは {max, number} 文字以内で入力してください。',
  'login.problem.wrong': 'ユーザー名またはパスワードが正しくありません。',
  'login.problem.disabled':
    'このアカウントは無効になっています。有効にするには、サポートにお問い合わせください。',
  'login.problem.throttled':
    '試行回数が多すぎます。{minutes, plural, other {# 分}}後にもう一度お試しになるか、このアカウントでログインしたことのあるブラウザーをお使いください。',

  'apps.title': '連携中のアプリケーション',
  'apps.intro': '次のアプリケーションはアカウントにアクセスできます。',
  'apps.empty': 'アカウントと連携しているアプリケーションはありません。',
  'apps.empty_hint': '許可したアプリケーションがここに表示されます。アクセス権の削除もここで行えます。',
  'apps.disabled': 'このアプリケーションは停止されているため、アカウントにアクセスできません。',
  'apps.since': '許可した日: {date}',
  'apps.connected_since': '連携開始日: {date}',
  'apps.last_used': '最終使用日: {date}',
  'apps.not_used': 'まだ使用されていません。',
  'apps.revoke': 'アクセス権を削除',
  'apps.revoke_one': 'アクセス権を削除: {client}',
  'apps.revoke_all': 'すべてのアクセス権を削除',
  'apps.pages': 'その他のアプリケーション',
  'apps.page': '{page, number} / {pages, number} ページ',
  'apps.next': '次のページ',
  'apps.previous': '前のページ',
  'apps.back': 'アカウントに戻る',
  'revoke.title': '{client} のアクセス権を削除しますか？',
  'revoke.what':
    '{client} は、すべてのデバイスで直ちにアカウントにアクセスできなくなります。すでに取得された情報は先方に残る場合があります。アクセスはいつでも改めて許可できます。',
  'revoke_all.title':
    '{count, plural, =1 {アクセス権を削除しますか？} other {すべてのアクセス権を削除しますか？}}',
  'revoke_all.what':
    '{count, plural, other {# 件のアプリケーション}}が、すべてのデバイスで直ちにアカウントにアクセスできなくなります。すでに取得された情報は先方に残る場合があります。',
  'revoke.incomplete_title': 'エラー: アクセス権の削除が完了していません',
  'revoke.incomplete': 'アクセス権の削除が完了していません',
  'revoke.incomplete_what':
    '削除の操作は記録されましたが、サービスの一部が応答していないため、しばらくの間はアクセスできる可能性があります。',
  'revoke.incomplete_advice': '少し待ってから、もう一度お試しください。繰り返しても問題はありません。',
  'flash.revoked': '{client} はアカウントにアクセスできなくなりました。',
  'flash.revoked_soon':
    '{client} のアクセス権を削除しました。すべてに反映されるまで最大 {seconds, number} 秒かかることがあります。',
  'flash.all_revoked': 'すべてのアプリケーションがアカウントにアクセスできなくなりました。',
  'flash.all_revoked_soon':
    'すべてのアクセス権を削除しました。すべてに反映されるまで最大 {seconds, number} 秒かかることがあります。',
  'flash.not_connected': 'このアプリケーションにはアカウントへのアクセス権がありません。',

  'brand.product': '{product} に戻る',
  'brand.privacy': 'プライバシー',
  'brand.terms': '利用規約',
  'brand.help': 'ヘルプ',

  'consent.title': '{client} にアカウントへのアクセスを許可しますか？',
  'consent.error_title': 'エラー: {client} にアカウントへのアクセスを許可しますか？',
  'consent.heading': '{client} が {product} アカウントへのアクセスを求めています',
  'consent.third_party': 'サードパーティのアプリケーション',
  'consent.first_party': '{product} の公式アプリケーション',
  'consent.testing':
    '{client} はテスト中です。{product} による審査は完了していません。アクセス権は {days, plural, other {# 日}}後に終了します。',
  'consent.registered': '登録日: {date}',
  'consent.goes_to.site': '<b>{place}</b> にリダイレクトされます',
  'consent.goes_to.device': 'このデバイス上のアプリ（<b>{place}</b>）にリダイレクトされます',
  'consent.own_start':
    'このアプリはご自身で今起動したものですか？そうでない場合はキャンセルしてください。このデバイス上の別のアプリがその名前を使用している可能性があります。',
  'continuation.title': '{client} に進む',
  'continuation.hint': '移動しない場合は、ボタンを押してください。',
  'consent.apis': 'アクセスできるのは <b>{apis}</b> のみです',
  'consent.account': '<b>{name}</b> としてログイン中',
  'consent.not_you': 'ご本人ではありませんか？別のアカウントを使う',
  'consent.may': '許可すると、{client} は次の操作ができるようになります:',
  'consent.may_new': '許可すると、{client} はさらに次の操作ができるようになります:',
  'consent.optional': '{client} に次の操作も許可できます（任意）:',
  'consent.optional_only': '{client} に許可する操作を選択してください:',
  'consent.before': '以前に選択した内容',
  'consent.before_required': '{client} にすでに許可している操作:',
  'consent.before_optional': '次の選択は変更できます:',
  'client.home': 'ウェブサイト',
  'client.policy': 'プライバシーポリシー',
  'scope.read': '読み取り',
  'scope.write': '書き込み',
  'consent.undo': 'アクセス権は<a>連携中のアプリケーション</a>からいつでも削除できます。',
  'consent.allow': '許可',
  'consent.cancel': 'キャンセル',
  'consent.problem.nothing': '権限を 1 つ以上選択するか、「キャンセル」を押してください。',

  'device.title': 'デバイスを接続',
  'device.error_title': 'エラー: デバイスを接続',
  'device.code': 'デバイスに表示されているコード',
  'device.compare': 'デバイスに次のコードが表示されていることを確認してください:',
  'device.warning':
    'このコードやリンクは誰かから送られてきたものですか？その場合は続行しないでください。送信者があなたのアカウントにアクセスできるようになります。',
  'device.continue': '続行',
  'device.other': '別のコードを入力',
  'device.from':
    'アドレス <b>{address}</b> のデバイスからのリクエストです。コード <b>{code}</b> が表示されています。',
  'device.problem.unknown': 'このコードは間違っているか、期限切れです。デバイスのコードと比べてください。',
  'device.problem.throttled':
    '間違ったコードが多すぎます。{minutes, plural, other {# 分}}後にもう一度お試しください。',
  'flash.device_connected':
    'デバイス上の {client} がアクセスできるようになりました。このページを閉じてもかまいません。',
  'flash.device_denied': 'デバイスは接続されませんでした。このページを閉じてもかまいません。',

  'error.client_missing.title': 'リンクにアプリケーションが指定されていません',
  'error.client_missing.what':
    'お使いのリンクには、アカウントへのアクセスを求めているアプリケーションが指定されていません。',
  'error.client_unknown.title': 'アプリケーションが見つかりません',
  'error.client_unknown.what':
    'リンクのアプリケーションは登録されていません。リンクに誤りがあるか、アプリケーションが削除された可能性があります。',
  'error.client_document.title': 'アプリケーションを確認できません',
  'error.client_document.what':
    'アプリケーションの情報は、そのウェブサイト上の文書に記載されています。文書を読み込めないか、文書に誤りがあります。',
  'error.client_disabled.title': 'このアプリケーションは停止されています',
  'error.client_disabled.what':
    '元のアプリケーションは、当サービスによって停止されました。以前に許可していても、アカウントにはアクセスできません。',
  'error.client_testing.title': 'このアプリケーションはテスト中です',
  'error.client_testing.what':
    'このアプリケーションの審査はまだ完了していません。それまでは、所有者と、所有者が招待したテスターのみが利用できます。',
  'error.redirect_missing.title': '戻り先のアドレスがありません',
  'error.redirect_missing.what':
    'リンクには、登録済みのアドレス（redirect_uri）のいずれかが必要ですが、含まれていません。',
  'error.redirect_mismatch.title': '戻り先のアドレスが登録されていません',
  'error.redirect_mismatch.what':
    'アカウントを保護するため、アプリケーションが登録したアドレスにのみリダイレクトします。リンクのアドレスは、登録されたどのアドレスとも完全には一致しません。',
  'error.parameter_malformed.title': 'リンクが壊れています',
  'error.parameter_malformed.what':
    'お使いのリンクの一部が、長すぎるか、重複しているか、読み取れません。メールやチャットでリンクが途中で切れることがあります。',
  'error.request_malformed.title': 'このリンクはここでは使用できません',
  'error.request_malformed.what':
    'リンクには、このサービスが発行したリクエスト（request_uri）が必要です。リンクのリクエストは、ここで発行されたものではありません。',
  'error.request_expired.title': 'このリクエストは期限切れです',
  'error.request_expired.what':
    'アプリケーションのリクエストには短い有効期限があります。このリクエストは期限切れか、別のアプリケーションのものです。',
  'error.request_answered.title': 'このリクエストには回答済みです',
  'error.request_answered.what': 'リクエストに回答できるのは一度だけです。以前の回答は引き続き有効です。',
  'error.form_incomplete.title': 'フォームに不備があります',
  'error.form_incomplete.what': '有効な選択内容を受け取れませんでした。何も変更されていません。',
  'error.form_outdated.title': 'ページの内容が古くなっています',
  'error.form_outdated.what':
    'このページを開いた後に、ブラウザーの別のタブでログインまたはログアウトが行われたか、ブラウザーが閉じられました。',
  'error.form_foreign.title': 'このフォームは別のサイトから送信されました',
  'error.form_foreign.what': '当サービスのページから送信されたフォームではないため、受け付けませんでした。',
  'error.logged_in_elsewhere.title': 'このブラウザーはすでにログインしています',
  'error.logged_in_elsewhere.what':
    'このページを開いた後に、ブラウザーの別のタブで {name} がログインしました。',
  'error.cookie_missing.title': 'ブラウザーから Cookie が送られませんでした',
  'error.cookie_missing.what':
    'ログインには Cookie が必要です。ブラウザーが Cookie をブロックしている、プライベートウィンドウやアプリ内ブラウザーで破棄された、またはページを開いた後にブラウザーが閉じられた可能性があります。',
  'error.cookie_host.title': 'このページは別のアドレスで開かれています',
  'error.cookie_host.what':
    '{opened} が開かれましたが、正しいアドレスは {right} です。どちらも同じ場所につながる場合でも、ブラウザーは Cookie を別々に扱います。',
  'error.cookie_http.title': 'このページは https で開かれていません',
  'error.cookie_http.what':
    '{opened} が開かれましたが、ログインできるのは {right} だけです。ブラウザーは暗号化された接続でのみ当サービスの Cookie を送信します。',
  'error.cookie_https.title': 'このサービスは別のアドレス用に設定されています',
  'error.cookie_https.what': '{opened} が開かれましたが、このサービスは {right} 用に設定されています。',
  'error.request_unreadable.title': 'リクエストを読み取れませんでした',
  'error.request_unreadable.what': '受信したデータは有効なフォームではありません。何も変更されていません。',
  'error.not_found.title': 'ページが見つかりません',
  'error.not_found.what': 'このアドレスのページはありません。',
  'error.method_not_allowed.title': 'このアドレスはこの方法では開けません',
  'error.method_not_allowed.what': 'アドレスは存在しますが、この種類のリクエストは受け付けていません。',
  'error.too_large.title': 'フォームのデータが大きすぎます',
  'error.too_large.what': 'フォームのデータ量が上限を超えています。',
  'error.not_a_form.title': 'ここに送信できるのはフォームのみです',
  'error.not_a_form.what': 'このアドレスに送信されたデータは、当サービスのページからのものではありません。',
  'error.busy.title': 'ログインが混み合っています',
  'error.busy.what': 'パスワードはまだ確認されていません。失敗した試行には数えられず、続きから再開できます。',
  'error.unavailable.title': 'サービスを一時的に利用できません',
  'error.unavailable.what':
    'サービスの一部が応答していません。アカウントと以前の選択内容には影響ありません。',
  'error.server_error.title': '当サービスで問題が発生しました',
  'error.server_error.what': 'リクエストを完了できませんでした。',

  'error.title': 'エラー: {title}',
  'guide.title': 'エラー一覧',
  'guide.intro':
    '各エラーの意味と対処方法です。解決しない場合は、エラーの参照番号をサービスの運用者にお送りください。',
  'guide.english': '説明は英語です。',
  'error.party.user': 'ご自身で解決できます。',
  'error.party.application': 'この問題を解決できるのは、アプリケーションの開発者だけです。',
  'error.party.operator': '当サービス側での対応が必要です。',
  'error.party.nobody': 'リクエストに問題はありません。これは一時的な状態です。',
  'error.advice.start_at_application': 'アプリケーションに戻って、最初からやり直してください。',
  'error.advice.contact_developer':
    '下の参照番号を添えて、開発者にお問い合わせください。もう一度試しても解決しません。',
  'error.advice.retry_or_contact_developer':
    'アプリケーションに戻って、もう一度お試しください。問題が解決しない場合は、下の参照番号を添えて、アプリケーションの開発者にお問い合わせください。',
  'error.advice.open_again': 'ページを開き直して、もう一度お試しください。',
  'error.advice.start_again': 'ここからやり直してください。何も変更されていません。',
  'error.advice.continue': 'そのアカウントを使うには、「続ける」を押してください。',
  'error.advice.allow_cookies':
    'ブラウザーの設定で、このサイトの Cookie を許可してください。このページが別のアプリ内に表示されている場合は、ブラウザーで開いてください。その後、最初からやり直してください。何も変更されていません。',
  'error.advice.close': 'このページを閉じてください。何も変更されていません。',
  'error.advice.check_address': 'アドレスを確認するか、元のアプリケーションに戻ってください。',
  'error.advice.enter_less': '前のページに戻り、入力を短くしてください。',
  'error.advice.wait': '少し待ってから、もう一度お試しください。',
  'error.advice.contact_us':
    'もう一度お試しください。問題が解決しない場合は、下の参照番号を添えてお問い合わせください。',
  'error.advice.review_apps':
    '特に操作は必要ありません。アクセス権を完全に削除するには、連携中のアプリケーションを開いてください。ご不明な点は、下の参照番号を添えてお問い合わせください。',
  'error.advice.ask_invitation':
    '別のアカウントで招待された場合は、そのアカウントでログインしてください。それ以外の場合は、開発者に招待を依頼してください。変更は行われていません。',
  'error.button.again': 'もう一度試す',
  'error.button.start_again': 'やり直す',
  'error.button.continue': '続ける',
  'error.reference': '参照番号:',
  'error.details': '開発者向けの情報',
  'error.detail.code': 'エラーコード',
  'error.detail.check': '失敗したチェック',
  'error.detail.description': '説明',
  'error.detail.parameters': 'アドレスに含まれるパラメーター',
  'error.causes': 'よくある原因',
  'error.hint.slash': '一方のアドレスだけがスラッシュで終わっている。',
  'error.hint.scheme': '一方は http、もう一方は https で始まっている。',
  'error.hint.port':
    'ホストまたはポートが異なる（localhost と 127.0.0.1 は別のものとして扱われ、www. の有無も区別されます）。',
  'error.hint.encoding':
    '一方が二重にパーセントエンコードされている、またはまったくされていない。余分なパラメーターがある。大文字と小文字が異なる。',
  'error.registered':
    'このアドレスを、クライアントに登録されているリダイレクト URI と比較してください。このサービスの運用者は、{show} で一覧を表示し、{add} で追加できます。',
  'error.hint.auth_url':
    'このリクエストは {opened} に届きましたが、AUTH_URL は {right} です。前段のプロキシは Host ヘッダーを転送する必要があります。',
  'error.hint.secure':
    'ブラウザーは Secure Cookie を https でのみ送信します。TLS を終端するプロキシは X-Forwarded-Proto を送る必要があります。',
  'error.hint.proxy':
    'プロキシが X-Forwarded-… ヘッダーを送りましたが、TRUSTED_PROXIES にそのアドレスが含まれていません。',

  'login.signed_jwt': 'ログインしました。「続ける」を押して完了してください。',
  'error.advice.ask_support': 'アカウントを有効にするには、サポートにお問い合わせください。',
  'error.login_outdated.title': 'このログインは期限切れです',
  'error.login_outdated.what':
    'ログインに時間がかかりすぎたか、別のブラウザーで開始されたか、ブラウザーが当サービスの Cookie を保存しませんでした。',
  'error.login_cancelled.title': 'ログインしていません',
  'error.login_cancelled.what': 'ログインはキャンセルされました。',
  'error.login_refused.title': 'ログインできませんでした',
  'error.login_refused.what': 'ログインページからの応答を受け付けられませんでした。',
  'error.login_disabled.title': 'アカウントが無効になっています',
  'error.login_disabled.what': 'ログインには成功しましたが、このアカウントはここでは使用できません。',
  'error.login_unavailable.title': '現在、ログインできません',
  'error.login_unavailable.what': 'ログインページが応答していません。後で続きから再開できます。',

  'logout.title': '{product} からログアウトしますか？',
  'logout.client': '{client} がログアウトを求めています。',
  'logout.stay': 'ログインしたままにする',
  'error.logout_malformed.title': 'このログアウト用リンクは使用できません',
  'error.logout_malformed.what':
    'リンクに、このアプリケーション向けに当サービスが発行していない ID トークン（id_token_hint）が含まれています。',
  'error.logout_client_missing.title': 'ログアウト用リンクにアプリケーションが指定されていません',
  'error.logout_client_missing.what':
    'ログアウト後は、アプリケーションが登録したアドレスにのみリダイレクトします。リンクにはアドレスが含まれていますが、ID トークン（id_token_hint）も client_id も含まれていません。',
  'error.logout_redirect.title': 'ログアウト後のアドレスが登録されていません',
  'error.logout_redirect.what':
    'ログアウト後は、アプリケーションが登録したアドレスにのみリダイレクトします。リンクのアドレスは、登録されたどのアドレスとも完全には一致しません。',
};
