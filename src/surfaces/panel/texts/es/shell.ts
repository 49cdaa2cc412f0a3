import type { PanelTexts } from '../panel-texts.ts';

export const shell: PanelTexts['shell'] = {
  language: 'es',
  service: 'External Payments Service',
  skip: 'Ir al contenido',
  menuTitle: 'Menú',
  account: 'Cuenta',
  main: 'Principal',
  accounts: 'Cuentas',
  profile: 'Perfil',
  help: 'Ayuda',
  docs: 'Documentación',
  signOut: 'Cerrar sesión',
  copy: 'Copiar',
  undo: 'Deshacer',
  copied: 'Copiado',
  copyRefused: 'Aquí no se permite copiar: seleccione el texto en su lugar.',
  copyWhat: what => `Copiar: ${what}`,
  kept: 'Ya están guardados',
  menu: {
    home: 'Inicio',
    overview: 'Resumen',
    payments: 'Pagos',
    unmatched: 'Sin asignar',
    merchants: 'Comercios',
    commission: 'Comisión',
    settings: 'Configuración',
    business: 'Negocio',
    branches: 'Sucursales',
    addresses: 'Direcciones',
    domains: 'Dominios',
    appearance: 'Apariencia',
    team: 'Equipo',
    activity: 'Actividad',
    selfService: 'Autoservicio',
    developer: 'Desarrollo',
    keys: 'Claves de API',
    webhooks: 'Webhooks',
    requests: 'Registro de solicitudes',
    explain: 'Explicar una firma',
  },

  // Names of roles, so that they suit everybody.
  roles: {
    admin: 'admin del comercio',
    member: 'miembro',
    owner: 'propietario',
    developer: 'desarrollador',
  },

  onboardingStatuses: { pending: 'pendiente', approved: 'aprobado', rejected: 'rechazado' },

  banners: {
    inactive:
      'Esta cuenta está inactiva: se puede consultar, pero no se puede cambiar nada en ella. Diríjase al operador.',
    onboarding: status =>
      `El proceso de alta de esta cuenta está ${status}: hasta que se apruebe, sus claves se rechazan con E2102.`,
    selfServiceOff:
      'Su socio ha desactivado las claves de API de sus comercios: se rechazan con E2103.',
  },

  simulation: {
    label: 'Simulación',
    text: 'Simulación: los pagos pueden marcarse como pagados sin dinero.',
  },

  test: { band: 'Prueba: sin dinero real', tag: 'Prueba' },

  choice: {
    title: 'Sus cuentas',
    none: 'Ya no tiene ninguna cuenta. Consulte a quien le invitó.',
    inactive: 'inactiva',
    kinds: { merchant: 'Comercio', partner: 'Socio' },
    role: (kind, role) => `${kind}; su rol: ${role}`,
  },
};
