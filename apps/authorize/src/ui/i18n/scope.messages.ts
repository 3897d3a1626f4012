import type { Message } from './message.js';

/** What each scope of the catalogue lets an application do. */
export const SCOPE_MESSAGES = {
  'scope.profile:read': {
    en: 'See your profile: your name, user name, e‑mail address, picture, time zone and calendar preferences',
    de: 'Ihr Profil sehen: Name, Benutzername, E‑Mail‑Adresse, Bild, Zeitzone und Kalendereinstellungen',
    fr: 'Voir votre profil : nom, nom d’utilisateur, adresse e‑mail, photo, fuseau horaire et préférences de calendrier',
    es: 'Ver tu perfil: nombre, nombre de usuario, correo electrónico, foto, zona horaria y preferencias de calendario',
    pt: 'Ver o seu perfil: nome, nome de utilizador, e‑mail, fotografia, fuso horário e preferências de calendário',
    ja: 'プロフィールの閲覧（氏名、ユーザー名、メールアドレス、画像、タイムゾーン、カレンダーの設定）',
    ar: 'الاطلاع على ملفك الشخصي: الاسم واسم المستخدم والبريد الإلكتروني والصورة والمنطقة الزمنية وتفضيلات التقويم',
  },
  'scope.schedules:read': {
    en: 'See your schedules: when you can be booked',
    de: 'Ihre Zeitpläne sehen: wann man Sie buchen kann',
    fr: 'Voir vos disponibilités : quand on peut réserver avec vous',
    es: 'Ver tus horarios: cuándo se te puede reservar',
    pt: 'Ver os seus horários: quando é possível marcar consigo',
    ja: 'スケジュールの閲覧（予約を受け付ける時間）',
    ar: 'الاطلاع على جداولك: متى يمكن الحجز معك',
  },
  'scope.schedules:write': {
    en: 'Change your schedules: add, edit and delete the times when you can be booked',
    de: 'Ihre Zeitpläne ändern: Zeiten, zu denen man Sie buchen kann, hinzufügen, bearbeiten und löschen',
    fr: 'Modifier vos disponibilités : ajouter, modifier et supprimer les heures où l’on peut réserver avec vous',
    es: 'Cambiar tus horarios: añadir, editar y eliminar las horas en que se te puede reservar',
    pt: 'Alterar os seus horários: adicionar, editar e eliminar as horas em que é possível marcar consigo',
    ja: 'スケジュールの変更（予約を受け付ける時間の追加、編集、削除）',
    ar: 'تغيير جداولك: إضافة الأوقات التي يمكن الحجز فيها معك وتعديلها وحذفها',
  },
  'scope.bookings:read': {
    en: 'See your bookings: when, with whom and what about',
    de: 'Ihre Buchungen sehen: wann, mit wem und worüber',
    fr: 'Voir vos réservations : quand, avec qui et à quel sujet',
    es: 'Ver tus reservas: cuándo, con quién y sobre qué',
    pt: 'Ver as suas marcações: quando, com quem e sobre o quê',
    ja: '予約の閲覧（日時、相手、内容）',
    ar: 'الاطلاع على حجوزاتك: متى ومع من وبخصوص ماذا',
  },
  'scope.bookings:write': {
    en: 'Make, move and cancel bookings in your name',
    de: 'In Ihrem Namen buchen, Buchungen verschieben und absagen',
    fr: 'Créer, déplacer et annuler des réservations en votre nom',
    es: 'Crear, mover y cancelar reservas en tu nombre',
    pt: 'Criar, mudar e cancelar marcações em seu nome',
    ja: 'あなたの名義での予約の作成、変更、取り消し',
    ar: 'إنشاء الحجوزات ونقلها وإلغاؤها باسمك',
  },
} as const satisfies Record<string, Message>;
