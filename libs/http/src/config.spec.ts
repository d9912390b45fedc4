import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  commonEnvironment,
  ConfigError,
  parsedVariable,
  parseEnvironment,
  parseKeys,
  parseOrigins,
  TrustProxy,
} from './config.ts';

const environmentShape = { ...commonEnvironment, SECRET_URL: z.url() };
const validEnvironment = { PORT: '4100', METRICS_PORT: '4110', SECRET_URL: 'https://example.com' };

describe('parseEnvironment', () => {
  it('gives numbers for numbers, and defaults for what is not set', () => {
    expect(parseEnvironment(environmentShape, validEnvironment)).toMatchObject({
      PORT: 4100,
      HOST: '0.0.0.0',
      LOG_LEVEL: 'info',
      DRAIN_NOTICE_MILLIS: 0,
    });
  });

  it.each(['', ' ', '\r'])('takes an empty variable as one that is not set: %j', (empty) => {
    expect(parseEnvironment(environmentShape, { ...validEnvironment, HOST: empty }).HOST).toBe('0.0.0.0');
    expect(() => parseEnvironment(environmentShape, { ...validEnvironment, PORT: empty })).toThrow(
      'PORT is not set',
    );
  });

  it.each([
    [{ ...validEnvironment, PORT: '70000' }, 'PORT'],
    [{ ...validEnvironment, PORT: 'many' }, 'PORT'],
    [{ ...validEnvironment, LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
    [{ PORT: '1', METRICS_PORT: '2' }, 'SECRET_URL is not set'],
  ])('names the variable that does not fit: %j', (environment, named) => {
    expect(() => parseEnvironment(environmentShape, environment)).toThrow(ConfigError);
    expect(() => parseEnvironment(environmentShape, environment)).toThrow(named);
  });

  it('does not repeat a wrong value, which may be a secret', () => {
    const attempt = () => parseEnvironment(environmentShape, { ...validEnvironment, SECRET_URL: 'hunter2' });
    expect(attempt).toThrow('SECRET_URL');
    expect(attempt).not.toThrow('hunter2');
  });
});

describe('TRUST_PROXY', () => {
  const read = (given: string) =>
    parseEnvironment({ TRUST_PROXY: TrustProxy.optional() }, { TRUST_PROXY: given }).TRUST_PROXY;

  it('is a list or a number of hops', () => {
    expect(read('10.0.0.0/8, ::1')).toEqual(['10.0.0.0/8', '::1']);
    expect(read('2')).toBe(2);
    expect(read('')).toBeUndefined();
  });

  it.each(['true', '10.0.0.1,true', '10.0.0.1,', 'foo'])('is never everybody: %s', (given) => {
    expect(() => read(given)).toThrow('TRUST_PROXY must be a list of IP addresses or a number of hops');
  });
});

it('takes origins as browsers say them, without the slash at the end of an address', () => {
  expect(parseOrigins('https://a.example/ , tauri://localhost,, http://b.example:3000')).toEqual([
    ...['https://a.example', 'tauri://localhost', 'http://b.example:3000'],
  ]);
});

it('takes comma-separated keys, each of at least 32 characters', () => {
  const [first, second] = ['a'.repeat(32), 'b'.repeat(32)];
  expect(parseKeys(` ${first}, ${second},`)).toEqual([first, second]);
  expect(() => parseKeys('short')).toThrow(/32/);
});

describe('parsedVariable', () => {
  const parse = (text: string): string[] => {
    if (text.includes('!')) throw new Error('must have no mark');
    return text.split(',');
  };
  const names = { NAMES: parsedVariable(parse, 'a,b') };

  it('is what was made of the text, or of the usual one', () => {
    expect(parseEnvironment(names, { NAMES: 'x,y' }).NAMES).toEqual(['x', 'y']);
    expect(parseEnvironment(names, {}).NAMES).toEqual(['a', 'b']);
    expect(parseEnvironment({ NAMES: parsedVariable(parse) }, {}).NAMES).toEqual(['']);
  });

  it('stops the start with what parsing says, and does not repeat the value', () => {
    const attempt = () => parseEnvironment(names, { NAMES: 'hunter2!' });
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow('NAMES must have no mark');
    expect(attempt).not.toThrow('hunter2');
  });
});
