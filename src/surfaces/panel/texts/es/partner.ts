import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';
import { counted } from './formats.ts';

export const partner: PanelTexts['partner'] = {
  overview: {
    volume30d: 'Volumen, 30 días',
    totalVolume: 'Volumen total',
    totalCommission: 'Comisión total',
    payments: 'Pagos',
    merchants: 'Comercios',
    approved: 'Aprobados',
    actionRequired: 'Requieren acción',
    trend: 'Volumen por día',
    chart: 'Volumen de los últimos 30 días',
    onboarding: (merchant, since) =>
      html`El proceso de alta de ${merchant} está pendiente desde el ${since}`,
    none: 'Aún no hay comercios en producción. El operador vincula los comercios a un socio.',
  },

  merchants: {
    title: 'Comercios',
    none: 'Aún no hay comercios. El operador vincula los comercios a un socio.',
    noMatch: 'Ningún comercio coincide.',
    searchHint: 'Nombre, correo o ID',
    action: 'Proceso de alta',
    actionRequired: 'requiere acción',
    columns: {
      name: 'Nombre',
      state: 'Estado',
      volume30d: 'Volumen, 30 días',
      payments: 'Pagos',
      lastPayment: 'Último pago',
    },
    neverPaid: 'ninguno',
  },

  statuses: { active: 'activo', inactive: 'inactivo' },
  accountKinds: { standard: 'estándar', us: 'EE. UU.' },

  merchant: {
    email: 'Correo electrónico',
    accountKind: 'Cuenta',
    created: 'Desde',
    branches: 'Sucursales',
    mainBranch: name => `${name} (principal)`,
    payments: 'Pagos',
    successful: 'Completados',
    totalVolume: 'Volumen',
    volume30d: 'Volumen, 30 días',
    commission: 'Comisión',
    latest: 'Últimos pagos',
    allPayments: 'Todos sus pagos',
    test: 'Un comercio de prueba no recibe dinero real: sus pagos figuran en la lista, pero en ninguna cifra.',
  },

  payment: {
    searchHint: 'Comercio, ID, dirección, …',
    parts: {
      title: 'Más filtros',
      payment: 'Parte del ID',
      name: 'Parte del nombre del comercio',
      address: 'Parte de la dirección',
      hash: 'Parte de la transacción',
    },
    merchant: 'Comercio',
    branch: 'Sucursal',
    flow: 'Pagado mediante',
    crypto: 'cripto',
    regulated: 'el procesador',
    system: 'Sistema',
  },

  commission: {
    title: 'Comisión',
    month: 'Mes (UTC)',
    show: 'Mostrar',
    none: 'Ningún comercio recibió pagos en este mes.',
    open: 'Este mes no ha terminado: sus cifras crecen con cada pago, y su archivo aún no tiene firma.',
    closed: merchants =>
      `Este mes ha terminado. ${counted(merchants, 'comercio', 'comercios')} en esta página.`,
    owed: (month, total) =>
      `Por ${month}, sus comercios deben al operador de este servicio ${total}: cada uno, la comisión de su fila. Es posible que la liquidación dividida ya la haya retenido.`,
    nothingOwed: month => `Por ${month}, nadie debe ninguna comisión.`,
    rule: 'Un comercio debe la comisión también si sus clientes la pagaron como suplemento. El servicio no guarda dinero: no debe nada, y usted tampoco.',
    columns: {
      merchant: 'Comercio',
      payments: 'Pagos',
      volume: 'Volumen',
      commission: 'Comisión',
      cents: 'en centavos',
    },
    figures: { payments: 'Pagos', volume: 'Volumen', commission: 'Comisión' },
    signature: 'Firma del archivo',
    check: 'Cómo verificarla',
  },

  settings: {
    title: 'Autoservicio',
    selfService: 'Claves de API de sus comercios',
    on: merchants =>
      `Activado: sus comercios pueden crear pagos con sus propias claves de API. ${concerned(merchants)}`,
    off: merchants =>
      `Desactivado: las claves de API de sus comercios se rechazan con E2103. ${concerned(merchants)}`,
    switchOn: 'Activar',
    switchOff: 'Desactivar',
    question: {
      title: '¿Desactivar las claves de API de sus comercios?',
      consequence: merchants =>
        merchants === 0
          ? 'Ningún comercio tiene una clave de API que funcione. Desde entonces, también las nuevas se rechazan con E2103.'
          : `Desde entonces, las claves de API de ${counted(merchants, 'comercio', 'comercios')} se rechazan con E2103: no pueden crear pagos ni consultarlos. Los pagos que ya existen aún se pueden pagar.`,
    },
    switchedOn: 'Activado: las claves de API de sus comercios funcionan.',
    switchedOff: 'Desactivado: las claves de API de sus comercios se rechazan con E2103.',
  },
};

function concerned(merchants: number): string {
  if (merchants === 0) return 'Aún no tiene ningún comercio.';
  return `Afecta a ${counted(merchants, 'comercio', 'comercios')}.`;
}
