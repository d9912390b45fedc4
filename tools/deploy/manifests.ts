/** Reads the Kubernetes manifests and compares them with the schemas and types of Kubernetes and KEDA. */
import { readdir, readFile, rm, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';
import { repositoryRoot } from '@muster/tools';

const kubernetesFolder = path.join(repositoryRoot, 'tools/deploy/kubernetes');

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

export interface Kustomization {
  readonly kind: string;
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly images?: readonly { readonly name: string }[];
  readonly patches?: readonly { readonly patch: string }[];
}

export interface Folder {
  readonly name: string;
  readonly kustomization: Kustomization;
  /** The names of the YAML files in the folder, without kustomization.yaml. */
  readonly files: readonly string[];
  readonly manifests: readonly Manifest[];
}

const read = (...parts: string[]): Promise<string> => readFile(path.join(kubernetesFolder, ...parts), 'utf8');

export async function readFolder(name: string): Promise<Folder> {
  const inFolder = await readdir(path.join(kubernetesFolder, name));
  const files = inFolder.filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml').toSorted();
  const manifests: Manifest[] = [];
  for (const file of files) {
    for (const document of parseAllDocuments(await read(name, file), { uniqueKeys: true })) {
      if (document.errors.length > 0) throw new Error(`${name}/${file}: ${document.errors.join('; ')}`);
      manifests.push(document.toJS() as Manifest);
    }
  }
  const kustomization = parse(await read(name, 'kustomization.yaml')) as Kustomization;
  return { name, kustomization, files, manifests };
}

/**
 * The packages that contain the types of other API groups. `apps/v1` and similar groups are in one package.
 */
const packages: readonly (readonly [group: string, name: string])[] = [
  ['keda.sh/', '@kubernetes-models/keda'],
  ['monitoring.coreos.com/', '@kubernetes-models/prometheus-operator'],
];

function moduleOf(apiVersion: string): string {
  const [, name] = packages.find(([group]) => apiVersion.startsWith(group)) ?? [];
  return `${name ?? 'kubernetes-models'}/${apiVersion}`;
}

type Model = new (data: unknown) => { validate(): void };

/** Throws if a value is missing or is not valid for its field. */
export async function validate(manifest: Manifest): Promise<void> {
  const models = (await import(moduleOf(manifest.apiVersion))) as Readonly<Record<string, Model | undefined>>;
  const model = models[manifest.kind];
  if (model === undefined) throw new Error(`there is no ${manifest.kind} in ${manifest.apiVersion}`);
  new model(manifest).validate();
}

/**
 * Returns the compiler's errors for the manifests as values of their types. It finds unknown fields, which a
 * schema accepts.
 */
export async function typeFaults(manifests: readonly Manifest[]): Promise<string[]> {
  const folder = path.join(repositoryRoot, 'dist/deploy');
  const file = path.join(folder, `manifests-${process.pid}.ts`);
  const statements = manifests.map(
    (manifest, index) =>
      `import { type I${manifest.kind} as T${index} } from '${moduleOf(manifest.apiVersion)}';\n` +
      `export const m${index}: T${index} = ${JSON.stringify(manifest)};`,
  );
  await mkdir(folder, { recursive: true });
  await writeFile(file, statements.join('\n'));
  try {
    const program = ts.createProgram([file], {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  } finally {
    await rm(file);
  }
}
