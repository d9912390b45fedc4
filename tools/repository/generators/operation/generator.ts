/**
 * `npx nx g ./tools/repository/generators:operation epics.rename`: does the first, second and fourth step of
 * docs/adding-an-operation.md. The generated operation compiles and passes the checks of every operation: it
 * works on a project and answers the time of the call. The author then replaces its parameters, its work and
 * its refusals.
 */
import path from 'node:path';
import { formatFiles, type Tree } from '@nx/devkit';
import ts from 'typescript';

export interface OperationOptions {
  readonly name: string;
  readonly effect: 'read' | 'write';
  readonly summary: string;
  readonly description: string;
}

interface OperationPlace {
  readonly namespace: string;
  /** The nested namespace, such as `members` in `projects.members.add`. */
  readonly inner: string | undefined;
  readonly verb: string;
  /** The name of the handler's constant. It differs from the verb if the verb is a reserved word. */
  readonly constant: string;
  /** The library in libs that handles the namespace. */
  readonly lib: string;
  readonly contractFile: string;
  /** The folder of the namespace's handlers. */
  readonly folder: string;
  /** The folder of the operation: `folder`, or the folder of the nested namespace in it. */
  readonly home: string;
}

/** Generates the operation. The returned function prints the steps that remain for the author. */
export default async function operation(tree: Tree, options: Partial<OperationOptions>): Promise<() => void> {
  const complete = completed(options);
  const place = placeOf(tree, complete.name);
  addHandler(tree, place);
  addContract(tree, place, complete);
  const spec = `${place.verb}.spec.ts`;
  tree.write(`${place.home}/${spec}`, specOf(place, complete));
  await formatFiles(tree);
  return () => {
    process.stdout.write(`
Next steps, which docs/adding-an-operation.md explains:
  1. Edit ${place.contractFile}: the parameters, result, refusals and keywords of ${complete.name}.
  2. Edit ${place.home}/${place.verb}.ts and ${spec}: its work, and the tests of it.
  3. If its example names records that do not exist yet, add them in libs/examples/src.
  4. npm run generate
  5. npx nx test ${place.lib} -- ${verbPath(place)}
`);
  };
}

/** Returns the pattern that selects the operation's spec. */
const verbPath = ({ home, verb }: OperationPlace): string => `${path.posix.basename(home)}/${verb}`;

/** Throws an error that lists all missing options, because without a terminal Nx does not ask for them. */
function completed({ name, effect, summary, description }: Partial<OperationOptions>): OperationOptions {
  if (name !== undefined && effect !== undefined && summary !== undefined && description !== undefined)
    return { name, effect, summary, description };
  const missing = [
    name === undefined && 'epics.rename',
    effect === undefined && '--effect=read|write',
    summary === undefined && '--summary="What it does, in a line"',
    description === undefined && '--description="What is special about it."',
  ];
  throw new Error(`missing: ${missing.filter((flag) => flag !== false).join(' ')}`);
}

function placeOf(tree: Tree, name: string): OperationPlace {
  const [namespace = '', ...rest] = name.split('.');
  const [verb = '', inner] = rest.toReversed();
  const folderIn = (lib: string): string => `libs/${lib}/src/operations/${namespace}`;
  const libs = tree.children('libs').filter((lib) => tree.exists(`${folderIn(lib)}/handlers.ts`));
  const [lib = ''] = libs;
  const folder = folderIn(lib);
  const contractFile = `libs/${lib}-registry/src/${namespace}.ts`;
  if (!tree.exists(contractFile) || libs.length > 1)
    throw new Error(`there is no namespace ${namespace} with handlers of one lib: begin it by hand`);
  const home = inner === undefined ? folder : `${folder}/${inner}`;
  if (tree.exists(`${home}/${verb}.ts`)) throw new Error(`${name} is there already`);
  const isWord = ts.identifierToKeywordKind(ts.factory.createIdentifier(verb)) !== undefined;
  const constant = isWord ? `${verb}Operation` : verb;
  return { namespace, inner, verb, constant, lib, contractFile, folder, home };
}

function addContract(
  tree: Tree,
  { namespace, inner, verb, contractFile }: OperationPlace,
  { name, effect, summary, description }: OperationOptions,
): void {
  const isWrite = effect === 'write';
  let text = withProperty(
    read(tree, contractFile),
    [namespace, inner],
    `${verb}: operation({
      name: '${name}',
      effect: '${effect}',
      summary: ${JSON.stringify(summary)},
      description: ${JSON.stringify(description)},
      access: project('${isWrite ? 'contributor' : 'viewer'}'),
      params: z.strictObject({ projectId: ProjectRef }),
      result: z.object({ at: Instant }),${isWrite ? `\nrefusals: ['archived'],` : ''}
      example: { projectId: 'WEB' },
    })`,
  );
  for (const block of ['project', 'operation', 'Instant', 'ProjectRef'])
    text = withImport(text, block, '@muster/contract');
  tree.write(contractFile, withImport(text, 'z', 'zod'));
}

function addHandler(
  tree: Tree,
  { namespace, inner, verb, constant, lib, folder, home }: OperationPlace,
): void {
  const path = [namespace, inner, verb].filter((part) => part !== undefined).join('.');
  tree.write(
    `${home}/${verb}.ts`,
    `import { ${lib}Registry } from '@muster/${lib}-registry';
import { handle } from '@muster/runtime';

export const ${constant} = handle(${lib}Registry.${path}, async ({ access }) => {
  const { at } = await access();
  return { at };
});
`,
  );
  const own = `${home}/handlers.ts`;
  if (inner === undefined || tree.exists(own)) {
    const property = constant === verb ? verb : `${verb}: ${constant}`;
    const text = withProperty(read(tree, own), [inner ?? namespace, undefined], property);
    tree.write(own, withImport(text, constant, `./${verb}.ts`));
    return;
  }
  // Other namespaces of these handlers may have a verb with this name.
  const alias = `${verb}Of${inner.charAt(0).toUpperCase()}${inner.slice(1)}`;
  const file = `${folder}/handlers.ts`;
  const text = withProperty(read(tree, file), [namespace, inner], `${verb}: ${alias}`);
  tree.write(file, withImport(text, `${constant} as ${alias}`, `./${inner}/${verb}.ts`));
}

function specOf({ namespace, inner, lib }: OperationPlace, { name, effect }: OperationOptions): string {
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
import { newId } from '@muster/driver';
import { ${lib}Registry } from '@muster/${lib}-registry';
import { useWorld } from '@muster/testing';
import { ${namespace} } from '${inner === undefined ? '.' : '..'}/handlers.ts';

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
    expect(${lib}Registry.${name}.result.parse(answer)).toEqual(answer);
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

/**
 * Returns the text with a property added at the end of an exported constant's object, or of an object nested
 * in it.
 */
function withProperty(
  text: string,
  [constant, inner]: readonly [constant: string, inner: string | undefined],
  property: string,
): string {
  const declarations = parse(text)
    .statements.filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations]);
  const initializer = declarations.find(({ name }) => name.getText() === constant)?.initializer;
  const outer =
    initializer !== undefined && ts.isSatisfiesExpression(initializer) ? initializer.expression : initializer;
  const object = inner === undefined ? outer : valueOf(outer, inner);
  if (object === undefined || !ts.isObjectLiteralExpression(object))
    throw new Error(`${inner ?? constant} is no plain object to add to: add to it by hand`);
  const { properties } = object;
  const end = properties.at(-1)?.getEnd() ?? object.getStart() + 1;
  return `${text.slice(0, end)}${properties.length > 0 ? ',' : ''}\n${property}${text.slice(end)}`;
}

const valueOf = (object: ts.Expression | undefined, name: string): ts.Expression | undefined =>
  object === undefined || !ts.isObjectLiteralExpression(object)
    ? undefined
    : object.properties.filter(ts.isPropertyAssignment).find((property) => property.name.getText() === name)
        ?.initializer;

/**
 * Returns the text with an import added: to an existing import of that module, or else after the last import.
 */
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
    const next = names.findIndex((other) => other.localeCompare(name, 'en') > 0);
    const all = names.toSpliced(next < 0 ? names.length : next, 0, name);
    return `${text.slice(0, bindings.getStart())}{ ${all.join(', ')} }${text.slice(bindings.getEnd())}`;
  }
  const end = imports.at(-1)?.getEnd() ?? 0;
  return `${text.slice(0, end)}\nimport { ${name} } from '${from}';${text.slice(end)}`;
}
