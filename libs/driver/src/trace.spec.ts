import { describe, expect, it } from '@jest/globals';
import { summarizeStatement } from './trace.ts';

describe('what a trace is told of a statement', () => {
  it.each([
    ['begin', 'begin'],
    ['commit', 'commit'],
    ['select * from app.enter($1, $2)', 'select app.enter'],
    [`select set_config('muster.trace_parent', $1, true)`, 'select set_config'],
    ['set local role muster_worker', 'set'],
    ['insert into "comments" ("body") values ($1) returning *', 'insert into comments'],
    ['select * from "stories" where "id" = $1 for update', 'select stories'],
    ['update outbox o set attempts = 1 from unnest($1) x', 'update outbox'],
    ['delete from locks where id = $1', 'delete from locks'],
    [
      `with due as (select id from outbox for update of o skip locked) update outbox o set attempts = 1 from due`,
      'update outbox',
    ],
    ['insert into leases (id) values ($1) on conflict (id) do update set state = $2', 'insert into leases'],
  ])('is of %s: %s', (sql, summary) => {
    expect(summarizeStatement(sql)).toBe(summary);
    // The second call answers from the cache.
    expect(summarizeStatement(sql)).toBe(summary);
  });
});
