import { leastTransfer } from '#chains/least-transfer.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';

/** An address of each type of output, from the BIPs and the first block. */
const EXAMPLES = {
  P2PKH: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  P2SH: '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  P2WPKH: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  'P2WSH and P2TR': 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
};

/** The least that can be asked for at each type of Bitcoin address, as a part of a sentence. */
export function listLeastOnBitcoin(): string {
  return Object.entries(EXAMPLES)
    .map(([type, address]) => {
      const least = leastTransfer({ family: 'bitcoin', id: 'btc', chain: 'btc' }, address, false);
      return `${formatBaseUnits(least, 8)} BTC to ${type}`;
    })
    .join(', ');
}

/** The least that a new account can be sent. */
export function leastOnSolana(): string {
  const network = { family: 'solana', id: 'sol', chain: 'sol' } as const;
  return `${formatBaseUnits(leastTransfer(network, '', false), 9)} SOL`;
}
