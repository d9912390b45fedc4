import { describe, expect, it } from '@jest/globals';
import { type Param, query, statement } from './query.ts';

describe('statement', () => {
  const byTitle = statement((param: Param<{ orgId: string; labels: string[]; title: string | null }>) =>
    query
      .selectFrom('stories')
      .select('id')
      .where('org_id', '=', param('orgId'))
      .where('title', 'is not distinct from', param('title'))
      .where('labels', '@>', param('labels'))
      .where('status', '=', 'done')
      .limit(1),
  );

  it('is the query with values in their places, and its own constants kept', () => {
    const values = { orgId: 'o', labels: ['a', 'b'], title: null };
    const bound = byTitle(values);
    expect(bound.parameters).toEqual(['o', null, ['a', 'b'], 'done', 1]);
    expect(bound.sql).toBe(
      'select "id" from "stories" where "org_id" = $1 and "title" is not distinct from $2 and "labels" @> $3 and "status" = $4 limit $5',
    );
  });

  it('has one text for all values, so that a connection prepares it once', () => {
    expect(byTitle({ orgId: 'a', labels: [], title: 'x' }).sql).toBe(
      byTitle({ orgId: 'b', labels: ['y'], title: null }).sql,
    );
  });
});
