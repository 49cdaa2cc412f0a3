// Registers the payment method with the block checkout.
(() => {
  const { registerPaymentMethod } = window.wc.wcBlocksRegistry;
  const { createElement } = window.wp.element;
  const { decodeEntities } = window.wp.htmlEntities;
  const settings = window.wc.wcSettings.getSetting('external_payments_data', {});
  const title = decodeEntities(settings.title);
  const content = createElement(() => decodeEntities(settings.description));

  registerPaymentMethod({
    name: 'external_payments',
    label: createElement(({ components: { PaymentMethodLabel } }) =>
      createElement(PaymentMethodLabel, { text: title }),
    ),
    ariaLabel: title,
    content,
    edit: content,
    placeOrderButtonLabel: decodeEntities(settings.button),
    canMakePayment: () => true,
    supports: { features: settings.supports },
  });
})();
