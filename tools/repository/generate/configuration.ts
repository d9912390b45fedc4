/**
 * Generates the page of every service's environment from the comments, types and defaults of its declaration.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { z } from 'zod';
import { formatted, portsOfApps, repositoryRoot } from '@muster/tools';

interface Variable {
  readonly name: string;
  readonly meaning: string;
  /** The text of the default in the environment, or null if there is none. */
  readonly default: string | null;
  readonly required: boolean;
}

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly default?: unknown; readonly enum?: unknown[] }>>;
  readonly required?: readonly string[];
}

/** The constants with variables of several services, and their files. */
const shared = {
  commonEnvironment: 'libs/http/src/config.ts',
  filesEnvironment: 'libs/attachments/src/storage/files-environment.ts',
};

/** Returns the comment on each property of a constant's object. */
async function meaningsIn(file: string, constant: string): Promise<Map<string, string>> {
  const text = await readFile(path.join(repositoryRoot, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const meanings = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    const isIt = ts.isVariableDeclaration(node) && node.name.getText() === constant;
    if (isIt && node.initializer !== undefined && ts.isObjectLiteralExpression(node.initializer)) {
      for (const property of node.initializer.properties) {
        const [comment] = ts.getJSDocCommentsAndTags(property);
        const words = ts.getTextOfJSDocComment(comment?.comment);
        if (property.name !== undefined && words !== undefined) meanings.set(property.name.getText(), words);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return meanings;
}

async function variablesOf(app: string): Promise<Variable[]> {
  const constants = { ...shared, environment: `apps/${app}/src/config.ts` };
  const { environment } = (await import(`../../../${constants.environment}`)) as {
    environment: z.ZodRawShape;
  };
  const { properties = {}, required = [] } = z.toJSONSchema(z.object(environment), {
    ...{ io: 'input', unrepresentable: 'any' },
  }) as Schema;
  const maps = await Promise.all(Object.entries(constants).map(([name, file]) => meaningsIn(file, name)));
  const meanings = new Map(maps.flatMap((map) => [...map]));
  return Object.entries(properties).map(([name, { default: preset, enum: choices }]) => {
    const meaning = meanings.get(name);
    if (meaning === undefined) throw new Error(`${name} of ${app} has no comment that says what it means`);
    return {
      name,
      meaning: choices === undefined ? meaning : `${meaning} One of ${choices.join(', ')}.`,
      default: preset === undefined ? null : typeof preset === 'string' ? preset : JSON.stringify(preset),
      required: required.includes(name),
    };
  });
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

function tableOf(variables: readonly Variable[]): string {
  const rows = variables.map(({ name, meaning, default: preset, required }) => {
    const otherwise =
      preset === null ? (required ? 'needed' : 'not set') : preset === '' ? '' : `\`${preset}\``;
    return `| \`${name}\` | ${cell(meaning)} | ${cell(otherwise)} |`;
  });
  return ['| Variable | Meaning | Unless set |', '| --- | --- | --- |', ...rows].join('\n');
}

/** Returns the current text of docs/configuration.md. */
export async function configurationPage(): Promise<string> {
  const sections: string[] = [];
  for (const app of Object.keys(portsOfApps).toSorted())
    sections.push(`## ${app}`, tableOf(await variablesOf(app)));
  return formatted(
    'docs/configuration.md',
    [
      '# Configuration',
      'Written by `npm run generate` from what each service reads. All settings come from environment variables and are checked when the service starts: an invalid variable stops the start with a message that names it. An empty one counts as not set.',
      ...sections,
    ].join('\n\n'),
  );
}
