import { describe as group, expect, it } from '@jest/globals';
import { meaningOfParameter, operations, parameterMeanings, registry } from '@muster/registry';
import { fieldsOf, parametersOf } from './fields.ts';
import { updatePageDates, knownDates } from './last-modified.ts';
import { toOperationPage, examplesOf } from './operations.ts';
import { referencePages } from './pages.ts';

const pages = referencePages();
const pageAt = (path: string) => {
  const page = pages.find((one) => one.path === path);
  if (page === undefined) throw new Error(`there is no ${path}`);
  return page;
};

group('the reference', () => {
  it('has every operation on the page of its namespace, with its parameters, refusals and events', () => {
    for (const operation of operations.values()) {
      const { markdown } = pageAt(`reference/${operation.namespace}`);
      const begin = markdown.indexOf(`\n## ${operation.name}\n`);
      expect([operation.name, begin >= 0]).toEqual([operation.name, true]);
      const end = markdown.indexOf('\n## ', begin + 1);
      const section = markdown.slice(begin, end === -1 ? undefined : end);
      for (const parameter of Object.keys(operation.params.shape))
        expect(section).toContain(`\`${parameter}\``);
      for (const reason of operation.refusals) expect(section).toContain(`(errors#${reason})`);
      for (const event of operation.emits) expect(section).toContain(`\`${event}\``);
    }
  });

  it('links no record, error or page that is not there', () => {
    const headings = (path: string) =>
      new Set(
        [...pageAt(path).markdown.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title.toLowerCase()),
      );
    const known = { records: headings('reference/records'), errors: headings('reference/errors') };
    for (const { path, markdown } of pages) {
      for (const [, page, place = ''] of markdown.matchAll(/\]\((records|errors)#([^)]+)\)/g))
        expect([path, place, known[page as keyof typeof known].has(place)]).toEqual([path, place, true]);
      for (const [, target = ''] of markdown.matchAll(/\]\(\/(reference\/[^)]+)\)/g))
        expect(pageAt(target).path).toBe(target);
    }
  });

  it('says of a field what type it is, whether it is needed, its default and its limits', () => {
    const fields = fieldsOf(registry.stories.list.params, 'input');
    expect(fields.find(({ name }) => name === 'projectId')).toMatchObject({ type: 'string', required: true });
    expect(fields.find(({ name }) => name === 'status')).toMatchObject({
      type: 'StoryStatus | StoryStatus[]',
      required: false,
    });
    expect(fields.find(({ name }) => name === 'limit')).toMatchObject({
      ...{
        type: 'integer',
        default: '50',
        description: 'Items on a page, at most 200 where they are no cards; 1 to 1000',
      },
    });
    const inside = fieldsOf(registry.deliveryExecutions.update.params, 'input');
    expect(inside.find(({ name }) => name === 'git.pullRequest.state')?.type).toBe(
      '"draft" | "open" | "merged" | "closed"',
    );
  });

  it('says what each parameter of each operation means, beside its limits', () => {
    const limits = /^(at (most|least) \d+|\d+ to \d+)( \w+)?$/i;
    const silent = [...operations.values()].flatMap((operation) =>
      parametersOf(operation)
        .filter(({ description }) => description === '' || limits.test(description))
        .map(({ name }) => `${operation.name} ${name}`),
    );
    expect(silent).toEqual([]);
  });

  it('keeps no meaning of a parameter that none has, or that its schema says itself', () => {
    const used = new Set(
      [...operations.values()].flatMap((operation) => {
        const bare = new Map(fieldsOf(operation.params, 'input').map((field) => [field.name, field]));
        return parametersOf(operation)
          .filter(({ name, description }) => bare.get(name)?.description !== description)
          .map(({ name }) => meaningOfParameter(operation, name));
      }),
    );
    expect(Object.entries(parameterMeanings).filter(([, meaning]) => !used.has(meaning))).toEqual([]);
  });

  it('has an example for each surface, and a key for whatever writes', () => {
    const [curl, typescript, command, mcp] = examplesOf(toOperationPage(registry.comments.create));
    expect(curl?.code).toContain('"$BASE_URL/api/comments/create"');
    expect(curl?.code).toContain('Idempotency-Key');
    expect(typescript?.code).toContain('muster.comments.create({');
    expect(command?.code).toMatch(/^muster comments create WEB-\d+ /);
    expect(JSON.parse(mcp?.code ?? '')).toMatchObject({ params: { name: 'comments_create' } });
    const [read] = examplesOf(toOperationPage(registry.stories.get));
    expect(read?.code).not.toContain('Idempotency-Key');
  });

  it('keeps the dates that are checked in, of pages that say the same', () => {
    expect(updatePageDates(pages, knownDates, '2100-01-01')).toEqual(knownDates);
  });
});
