import type { Scope } from '../scope.js';

/** Scope that makes a request an authentication request (OpenID Connect Core 3.1.2.1). */
export const OPENID = 'openid';

/** Scopes of OpenID Connect Core 3.1.2.1 and 5.4. A declaration of the same name in the scope file takes precedence. */
export const OPENID_SCOPES: readonly Omit<Scope, 'resource'>[] = [
  {
    name: OPENID,
    description: 'ID token: who the user is (OpenID Connect Core 2)',
    texts: {
      en: 'Confirm your identity',
      de: 'Ihre Identität bestätigen',
      fr: 'Confirmer votre identité',
      es: 'Confirmar su identidad',
      pt: 'Confirmar a sua identidade',
      ja: '本人であることの確認',
      ar: 'التأكد من هويتك',
    },
    isDefault: false,
    access: 'read',
  },
  {
    name: 'profile',
    description: 'Name, username, picture, language and time zone, from UserInfo (OpenID Connect Core 5.4)',
    texts: {
      en: 'View your basic profile: name, username, picture, language and time zone',
      de: 'Ihr Basisprofil ansehen: Name, Benutzername, Bild, Sprache und Zeitzone',
      fr: 'Voir votre profil de base : nom, nom d’utilisateur, photo, langue et fuseau horaire',
      es: 'Ver su perfil básico: nombre, nombre de usuario, foto, idioma y zona horaria',
      pt: 'Ver o seu perfil básico: nome, nome de utilizador, fotografia, idioma e fuso horário',
      ja: '基本プロフィールの閲覧（氏名、ユーザー名、画像、言語、タイムゾーン）',
      ar: 'الاطلاع على ملفك الشخصي الأساسي: الاسم واسم المستخدم والصورة واللغة والمنطقة الزمنية',
    },
    isDefault: false,
    access: 'read',
  },
  {
    name: 'email',
    description: 'Verified email address, from UserInfo (OpenID Connect Core 5.4)',
    texts: {
      en: 'View your email address',
      de: 'Ihre E‑Mail‑Adresse ansehen',
      fr: 'Voir votre adresse e‑mail',
      es: 'Ver su correo electrónico',
      pt: 'Ver o seu endereço de e‑mail',
      ja: 'メールアドレスの閲覧',
      ar: 'الاطلاع على عنوان بريدك الإلكتروني',
    },
    isDefault: false,
    access: 'read',
  },
];
