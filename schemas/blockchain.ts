import { type Static, Type } from '@sinclair/typebox';
import { Closed, StringEnum } from './scalars.ts';

/** Every supported network, production first, in the order of the documentation. */
export const BLOCKCHAIN_IDS = [
  'avax',
  'avax-usdt',
  'bnb',
  'bnb-usdt',
  'btc',
  'eth',
  'eth-usdc',
  'eth-usdt',
  'sol',
  'sol-usdc',
  'tron',
  'tron-usdc',
  'tron-usdt',
  'avax-test',
  'bnb-test',
  'btc-test',
  'eth-test',
  'eth-usdc-test',
  'eth-usdt-test',
  'sol-dev',
  'sol-usdc-dev',
  'tron-test',
  'tron-usdc-test',
  'tron-usdt-test',
] as const;

export type BlockchainId = (typeof BLOCKCHAIN_IDS)[number];

export const BlockchainIdSchema = StringEnum(BLOCKCHAIN_IDS, 'A supported blockchain ID.');

export const BlockchainSchema = Closed({
  object: Type.Literal('blockchain'),
  id: Type.String({ description: 'The ID used in `blockchainIds`.' }),
  name: Type.String({ description: 'Name of the network.' }),
  isActive: Type.Boolean({ description: 'Whether the platform currently offers it.' }),
  assetSymbol: Type.String({ description: 'Ticker of the asset.' }),
  assetName: Type.String({ description: 'Name of the asset.' }),
});

export const BlockchainListSchema = Type.Array(BlockchainSchema);

export type Blockchain = Static<typeof BlockchainSchema>;
