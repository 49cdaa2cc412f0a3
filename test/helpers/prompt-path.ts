/** Where payments are created. */
export const PROMPT_PATH = '/external/v1/payments/prompt';
