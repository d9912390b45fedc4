import { expect, it } from '@jest/globals';
import { codeLinesOf, rowOf } from './lines.ts';

it('counts lines with code, not blank lines and comments', () => {
  const text = [
    '// A comment.',
    '/** A comment',
    ' * of two lines. */',
    "const address = 'https://example.test'; // Counted once.",
    '',
    'const template = `',
    '// Text, not a comment.',
    '',
    '${address /* A comment. */}`;',
    'if (template) {',
    '  /* Only a comment. */',
    '}',
    'const slashes = /\\/\\/[/*]/;',
    '/* Before code. */ export { slashes };',
    '',
  ].join('\n');
  expect(codeLinesOf('some.ts', text)).toBe(8);
  expect(codeLinesOf('empty.ts', '// Nothing.\n')).toBe(0);
  expect(
    codeLinesOf('page.tsx', 'const Page = () => (\n  <p>\n    {/* A comment. */}\n    Text\n  </p>\n);\n'),
  ).toBe(6);
});

it('counts product and tools without specs of the product, what only specs use, and generated files', () => {
  const rows = {
    'apps/console/web/page.tsx': 'apps',
    'apps/console/web/page.spec.ts': undefined,
    'apps/console/test/console.ts': undefined,
    'libs/board/src/stories.ts': 'libs',
    'libs/board/src/stories.long.spec.ts': undefined,
    'libs/testing/src/world.ts': undefined,
    'libs/client/src/kinds.generated.ts': undefined,
    'libs/migrations/migrations/0001_start.sql': undefined,
    'tools/dev/run.mjs': 'tools',
    'tools/dev/lines.spec.ts': 'tools',
    'tools/dev/generated-names.ts': 'tools',
    'tools/dev/measured.sh': undefined,
  };
  expect(Object.fromEntries(Object.keys(rows).map((file) => [file, rowOf(file)]))).toEqual(rows);
});
