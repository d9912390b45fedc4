import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { plainIssueMessages } from '@muster/contract';
import { operations } from './registry.ts';

const messagesOf = (schema: z.ZodType, value: unknown): string[] =>
  (schema.safeParse(value, plainIssueMessages).error?.issues ?? []).map(({ message }) => message);

describe('words for what does not fit', () => {
  it.each<[string, z.ZodType, unknown]>([
    ['is required', z.string(), undefined],
    ['is required', z.enum(['a', 'b']), undefined],
    ['is required', z.union([z.string(), z.number()]), undefined],
    ['must be text', z.string(), 5],
    ['must be a number', z.number(), 'x'],
    ['must be a whole number', z.int(), 1.5],
    ['must be true or false', z.boolean(), 'yes'],
    ['must be a list', z.array(z.string()), {}],
    ['must be an object', z.strictObject({}), 'x'],
    ['must be one of a, b', z.enum(['a', 'b']), 'c'],
    ['must be true', z.literal(true), false],
    ['must be text, or must be a number', z.union([z.string(), z.number()]), []],
    ['must be at least 1', z.int().min(1), 0],
    ['must be at most 9', z.int().max(9), 10],
    ['must not be empty', z.string().min(1), ''],
    ['must have at most 2 characters', z.string().max(2), 'abc'],
    ['must have at most 1 item', z.array(z.string()).max(1), ['a', 'b']],
    ['must be odd', z.int().refine((n) => n % 2 === 1, 'must be odd'), 2],
  ])('say "%s"', (words, schema, value) => {
    expect(messagesOf(schema, value)).toEqual([words]);
  });

  it('replace those of zod in every operation', () => {
    const wrong = [
      undefined,
      null,
      5,
      -1.5,
      true,
      'x',
      '',
      [],
      [5],
      {},
      { a: 1 },
      'x'.repeat(70_000),
      Array(600).fill('x'),
    ];
    const foreign = [...operations.values()].flatMap(({ name, params }) =>
      Object.keys(params.shape).flatMap((field) =>
        wrong
          .flatMap((value) => messagesOf(params, { [field]: value }))
          .filter((message) => /^invalid|expected .*received|^too (?:big|small)|\[object/i.test(message))
          .map((message) => `${name}.${field}: ${message}`),
      ),
    );
    expect(foreign).toEqual([]);
  });
});
