import { describe, expect, it } from '@jest/globals';
import { defaultSeatPrices } from '@muster/billing';
import { readConfig } from './config.ts';

const environment = { DATABASE_URL: 'postgres://localhost/muster' };

describe('SEAT_PRICING', () => {
  it('is what ships unless it is set', () => {
    expect(readConfig(environment).SEAT_PRICING).toEqual(defaultSeatPrices);
    const flat = { currency: 'EUR', interval: 'month', tiers: [{ upTo: null, unitAmount: 1_000 }] };
    const given = readConfig({ ...environment, SEAT_PRICING: JSON.stringify({ team: flat }) });
    expect(given.SEAT_PRICING).toEqual({ ...defaultSeatPrices, team: flat });
  });

  it.each(['nonsense', '{"team": {}}', '{"gold": 1}'])(
    'stops the start when it is %j, and is named',
    (wrong) => {
      expect(() => readConfig({ ...environment, SEAT_PRICING: wrong })).toThrow(/SEAT_PRICING is no/);
    },
  );
});

describe('SECRETS_KEY', () => {
  const [newer, older] = ['n'.repeat(32), 'o'.repeat(32)];

  it('is none unless it is set, and may be several, the newest first', () => {
    expect(readConfig(environment).SECRETS_KEY).toEqual([]);
    expect(readConfig({ ...environment, SECRETS_KEY: `${newer},${older}` }).SECRETS_KEY).toEqual([
      newer,
      older,
    ]);
  });

  it('stops the start when one is shorter than 32 characters, and is not repeated', () => {
    const attempt = () => readConfig({ ...environment, SECRETS_KEY: `${newer},hunter2` });
    expect(attempt).toThrow('SECRETS_KEY must be keys of at least 32 characters');
    expect(attempt).not.toThrow('hunter2');
  });
});

it('MCP_GATEWAY_KEY is needed where clients of MCP sign in, and may be several', () => {
  const signIn = { ...environment, SIGN_IN_URL: 'http://127.0.0.1:4105', BASE_URL: 'http://127.0.0.1:4100' };
  const both = { ...signIn, MCP_GATEWAY_URL: 'http://127.0.0.1:4101' };
  expect(() => readConfig(both)).toThrow('MCP_GATEWAY_KEY');
  expect(readConfig(signIn).MCP_GATEWAY_KEY).toEqual([]);
  const keys = ['n'.repeat(32), 'o'.repeat(32)];
  expect(readConfig({ ...both, MCP_GATEWAY_KEY: keys.join() }).MCP_GATEWAY_KEY).toEqual(keys);
});

describe('WEBHOOK_NETWORKS', () => {
  it('stops the start when it names no network, and is named', () => {
    expect(() => readConfig({ ...environment, WEBHOOK_NETWORKS: '10.0.0.0' })).toThrow(
      'WEBHOOK_NETWORKS 10.0.0.0 is not a network',
    );
  });
});
