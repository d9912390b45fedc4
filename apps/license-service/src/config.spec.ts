import { expect, it } from '@jest/globals';
import { readConfig } from './config.ts';

const needed = { DATABASE_URL: 'postgres://localhost/licenses' };

it('needs a database and nothing else, and has the limits of the house', () => {
  expect(readConfig(needed)).toMatchObject({
    PORT: 4102,
    CERTIFICATE_DAYS: 7,
    LIMIT_IP: { burst: 30, seconds: 2 },
    LIMIT_CHECK: { burst: 120, seconds: 0.5 },
    LIMIT_USAGE: { burst: 120, seconds: 0.5 },
    LIMIT_IP_FAIL: { burst: 20, seconds: 60 },
    LIMIT_KEY_FAIL: { burst: 20, seconds: 360 },
    LIMIT_TIMEOUT_MILLIS: 50,
  });
  expect(() => readConfig({})).toThrow('DATABASE_URL is not set');
});

it.each(['30', '0/1', '30/0', '-1/2', '30/2/1', 'many/2', '30/1e9'])('takes no rate for %s', (given) => {
  expect(() => readConfig({ ...needed, LIMIT_IP: given })).toThrow('LIMIT_IP is not a rate such as 30/2');
});

it('takes no short secret', () => {
  expect(() => readConfig({ ...needed, LICENSE_PEPPER: 'short' })).toThrow('LICENSE_PEPPER is shorter');
});
