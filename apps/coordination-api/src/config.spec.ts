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
