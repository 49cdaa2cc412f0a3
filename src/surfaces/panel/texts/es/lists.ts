import type { PanelTexts } from '../panel-texts.ts';
import { counted } from './formats.ts';

export const lists: PanelTexts['lists'] = {
  total: count => `${count} en total`,
  moreThan: count => `más de ${count}`,
  download: 'Descargar como CSV',
  file: {
    begins: (day, days) =>
      `El archivo empieza el ${day} (UTC): abarca ${counted(days, 'día', 'días')} como máximo.`,
    tooManyDays: days =>
      `Un archivo abarca ${counted(days, 'día', 'días')} como máximo. Filtre por menos para descargar uno.`,
  },

  filters: {
    submit: 'Filtrar',
    clear: 'Quitar los filtros',
    any: 'Cualquiera',
    from: 'Desde (día UTC)',
    to: 'Hasta (día UTC)',
    search: 'Buscar',
    daysReversed: (from, to) => `«Desde», ${from}, es posterior a «Hasta», ${to}.`,
  },

  pages: {
    title: 'Páginas',
    newest: 'Lo más reciente',
    newer: 'Más recientes',
    older: 'Anteriores',
    next: 'Más',
    noneFurther: 'No hay más.',
    first: 'Ir a la primera página',
  },

  chart: {
    label: (title, total, first, last) => `${title}: ${total} del ${first} al ${last}`,
    nothing: (first, last) => `Nada del ${first} al ${last}.`,
    day: (day, volume, payments) => `${day}: ${volume}, ${payments}`,
    highest: volume => `día más alto: ${volume}`,
    table: 'Como tabla',
    columns: { day: 'Día (UTC)', payments: 'Pagos', volume: 'Volumen' },
  },
};
