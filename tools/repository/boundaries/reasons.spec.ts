/**
 * Compares the catalogue of errors with the sources. Types ensure that no undefined reason is used; this spec
 * tests the rest.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { reasons } from '@muster/contract';
import { repositoryRoot } from '@muster/tools';

const sources = globSync(['libs/*/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: repositoryRoot })
  .filter((file) => !/\.spec\.ts$|\.generated\.ts$/.test(file))
  .map((file): [file: string, text: string] => [file, readFileSync(path.join(repositoryRoot, file), 'utf8')]);

/** Files that define or mention reasons without returning them. */
const speaksOfThem =
  /^libs\/([a-z]+-registry|contract\/src\/(inside|update-story|kernel\/(rule-)?reasons)|client|license-client|reference)|^apps\/cli\//;
/** Reasons for a refusal whose names the code builds from the name of a limit. */
const madeUp = ['token_limit', 'organization_limit', 'renewal_limit'];

describe('the catalogue of errors', () => {
  it('has no reason that nothing gives', () => {
    const givers = sources
      .filter(([file]) => !speaksOfThem.test(file))
      .map(([, text]) => text)
      .join('\n');
    const unsaid = Object.keys(reasons).filter(
      (reason) => !givers.includes(`'${reason}'`) && !madeUp.includes(reason),
    );
    expect(unsaid).toEqual([]);
    expect(givers).toContain('`${empty.name}_limit`');
  });

  it('is what every error is made from: no other place constructs one, or writes a reason beside it', () => {
    const makers = sources.filter(([, text]) => text.includes('new ApiError(')).map(([file]) => file);
    expect(makers).toEqual(['libs/contract/src/kernel/api-error.ts']);
    const relays = sources.filter(([, text]) => text.includes('apiErrorFromBody(')).map(([file]) => file);
    expect(relays).toEqual(['apps/mcp-gateway/src/app.ts']);
  });
});
