import { describe, expect, it } from '@jest/globals';
import { plans } from '@muster/contract';
import { defaultSeatPrices, parseSeatPrices } from './prices.ts';

const price = (tiers: unknown, currency = 'EUR') => ({ currency, interval: 'month', tiers });
const flatPrice = price([{ upTo: null, unitAmount: 1_200 }]);

describe('the price list', () => {
  it('is the default one unless another is given, plan by plan', () => {
    expect(parseSeatPrices('{}')).toEqual(defaultSeatPrices);
    expect(parseSeatPrices(JSON.stringify({ team: flatPrice }))).toEqual({
      ...defaultSeatPrices,
      team: flatPrice,
    });
  });

  it.each(plans)('that ships for %s would be taken from the environment as well', (plan) => {
    const shipped = { [plan]: defaultSeatPrices[plan] };
    expect(parseSeatPrices(JSON.stringify(shipped))).toEqual(defaultSeatPrices);
  });

  it.each([
    ['no JSON', '{', 'is not valid JSON'],
    ['a list', '[]', 'is not a valid price list'],
    ['a plan that there is not', JSON.stringify({ gold: flatPrice }), 'gold'],
    ['no tiers', JSON.stringify({ team: price([]) }), 'team.tiers'],
    ['no last tier', JSON.stringify({ team: price([{ upTo: 5, unitAmount: 1 }]) }), 'upTo null'],
    [
      'two last tiers',
      JSON.stringify({
        team: price([
          { upTo: null, unitAmount: 1 },
          { upTo: null, unitAmount: 2 },
        ]),
      }),
      'upTo null',
    ],
    [
      'tiers that go back',
      JSON.stringify({
        team: price([
          { upTo: 5, unitAmount: 1 },
          { upTo: 5, unitAmount: 2 },
          { upTo: null, unitAmount: 3 },
        ]),
      }),
      'greater',
    ],
    ['half a cent', JSON.stringify({ team: price([{ upTo: null, unitAmount: 0.5 }]) }), 'unitAmount'],
    ['a price below zero', JSON.stringify({ team: price([{ upTo: null, unitAmount: -1 }]) }), 'unitAmount'],
    ['a currency in words', JSON.stringify({ team: { ...flatPrice, currency: 'euro' } }), 'currency'],
    ['another interval', JSON.stringify({ team: { ...flatPrice, interval: 'year' } }), 'interval'],
    ['a field too many', JSON.stringify({ team: { ...flatPrice, discount: 1 } }), 'team'],
  ])('refuses %s and says where', (_what, text, saying) => {
    expect(() => parseSeatPrices(text)).toThrow(saying);
  });
});
