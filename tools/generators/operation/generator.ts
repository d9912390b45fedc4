/**
 * `npx nx g ./tools/generators:operation epics.rename`: the first, second and fourth step of
 * docs/adding-an-operation.md. What it makes compiles and keeps the laws of every operation: an operation on a project
 * that answers when it was called. What it is to take, do and refuse is written over that.
 */
import { formatFiles, type Tree } from '@nx/devkit';
import ts from 'typescript';

export interface OperationOptions {
  readonly name: string;
  readonly effect: 'read' | 'write';
  readonly summary: string;
  readonly description: string;
}

interface Place {
  readonly namespace: string;
  readonly verb: string;
  /** What the handler's constant is called: a word of the language cannot be. */
  readonly constant: string;
  readonly contractFile: string;
  /** Where the namespace's handlers are. */
  readonly folder: string;
}

export default async function operation(tree: Tree, options: OperationOptions): Promise<void> {
  const place = placeOf(tree, options.name);
  addHandler(tree, place);
  addContract(tree, place, options);
  tree.write(`${place.folder}/${place.verb}.spec.ts`, specOf(place, options));
  await formatFiles(tree);
}

function placeOf(tree: Tree, name: string): Place {
  const [namespace = '', verb = ''] = name.split('.');
  const contractFile = `libs/registry/src/namespaces/${namespace}.ts`;
  const folders = tree
    .children('libs')
    .map((lib) => `libs/${lib}/src/operations/${namespace}`)
    .filter((candidate) => tree.exists(`${candidate}/handlers.ts`));
  const [folder] = folders;
  if (!tree.exists(contractFile) || folder === undefined || folders.length > 1) {
    throw new Error(`there is no namespace ${namespace} with handlers of one lib: begin it by hand`);
  }
  if (tree.exists(`${folder}/${verb}.ts`)) throw new Error(`${name} is there already`);
  const isWord = ts.identifierToKeywordKind(ts.factory.createIdentifier(verb)) !== undefined;
  return { namespace, verb, constant: isWord ? `${verb}Operation` : verb, contractFile, folder };
}

function addContract(
  tree: Tree,
  { namespace, verb, contractFile }: Place,
  { name, effect, summary, description }: OperationOptions,
): void {
  const isWrite = effect === 'write';
  let text = withProperty(
    read(tree, contractFile),
    namespace,
    `${verb}: operation({
      name: '${name}',
      effect: '${effect}',
      summary: ${JSON.stringify(summary)},
      description: ${JSON.stringify(description)},
      access: project('${isWrite ? 'contributor' : 'viewer'}'),
      params: z.strictObject({ projectId: ProjectRef }),
      result: z.object({ at: Instant }),
      ${isWrite ? `refusals: ['archived'],` : ''}
      example: { projectId: 'WEB' },
    })`,
  );
  for (const [names, from] of [
    ['project', '../kernel/access.ts'],
    ['operation', '../kernel/operation.ts'],
    ['Instant', '../kernel/values.ts'],
    ['ProjectRef', '../kernel/values.ts'],
    ['z', 'zod'],
  ] as const)
    text = withImport(text, names, from);
  tree.write(contractFile, text);
}

function addHandler(tree: Tree, { namespace, verb, constant, folder }: Place): void {
  tree.write(
    `${folder}/${verb}.ts`,
    `import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';

export const ${constant} = handle(registry.${namespace}.${verb}, async ({ access }) => {
  const { at } = await access();
  return { at };
});
`,
  );
  const file = `${folder}/handlers.ts`;
  const property = constant === verb ? verb : `${verb}: ${constant}`;
  tree.write(file, withImport(withProperty(read(tree, file), namespace, property), constant, `./${verb}.ts`));
}

function specOf({ namespace }: Place, { name, effect }: OperationOptions): string {
  const [who, other] = effect === 'write' ? ['chloe', 'dan'] : ['dan', undefined];
  const refused =
    other === undefined
      ? ''
      : `
  it('is not for viewers', async () => {
    const { orgId, ${other} } = await world.org();
    await arrangeProject(orgId);
    await expect(${other}.${name}({ projectId: 'WEB' })).rejects.toMatchObject({ code: 'forbidden' });
  });
`;
  return `import { describe, expect, it } from '@jest/globals';
import { newId } from '@muster/database';
import { registry } from '@muster/registry';
import { useWorld } from '@muster/testing';
import { ${namespace} } from './handlers.ts';

const world = useWorld({ ${namespace} });

async function arrangeProject(orgId: string): Promise<void> {
  await world.rows(
    \`insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')\`,
    orgId,
    newId(),
  );
}

describe('${name}', () => {
  it('answers what it declares', async () => {
    const { orgId, ${who} } = await world.org();
    await arrangeProject(orgId);
    const answer = await ${who}.${name}({ projectId: 'WEB' });
    expect(registry.${name}.result.parse(answer)).toEqual(answer);
  });
${refused}
  it('tells nobody of another organization’s project', async () => {
    const { orgId } = await world.org();
    await arrangeProject(orgId);
    const { ana: stranger } = await world.org();
    await expect(stranger.${name}({ projectId: 'WEB' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
`;
}

function read(tree: Tree, file: string): string {
  const text = tree.read(file, 'utf8');
  if (text === null) throw new Error(`${file} is missing`);
  return text;
}

const parse = (text: string): ts.SourceFile =>
  ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);

/** The text with one more property, the last, in the object that an exported constant is. */
function withProperty(text: string, constant: string, property: string): string {
  const declarations = parse(text)
    .statements.filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations]);
  const initializer = declarations.find(({ name }) => name.getText() === constant)?.initializer;
  const object =
    initializer !== undefined && ts.isSatisfiesExpression(initializer) ? initializer.expression : initializer;
  if (object === undefined || !ts.isObjectLiteralExpression(object))
    throw new Error(`${constant} is no plain object to add to: add to it by hand`);
  const { properties } = object;
  const end = properties.at(-1)?.getEnd() ?? object.getStart() + 1;
  return `${text.slice(0, end)}${properties.length > 0 ? ',' : ''}\n${property}${text.slice(end)}`;
}

/** The text with one more import, beside those from the same module, else after those that it has. */
function withImport(text: string, name: string, from: string): string {
  const imports = parse(text).statements.filter(ts.isImportDeclaration);
  const same = imports.find(
    ({ moduleSpecifier, importClause }) =>
      ts.isStringLiteral(moduleSpecifier) &&
      moduleSpecifier.text === from &&
      importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword,
  );
  const bindings = same?.importClause?.namedBindings;
  if (bindings !== undefined && ts.isNamedImports(bindings)) {
    const names = bindings.elements.map((element) => element.getText());
    if (names.includes(name)) return text;
    const sorted = [...names, name].toSorted((one, other) => one.localeCompare(other, 'en'));
    return `${text.slice(0, bindings.getStart())}{ ${sorted.join(', ')} }${text.slice(bindings.getEnd())}`;
  }
  const end = imports.at(-1)?.getEnd() ?? 0;
  return `${text.slice(0, end)}\nimport { ${name} } from '${from}';${text.slice(end)}`;
}
