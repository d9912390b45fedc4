/**
 * Finds each sql`…` template of the product, with the row type that its author declared, as TypeScript
 * resolves it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { repositoryRoot } from '@muster/tools';

export interface CallSite {
  /** The file and line, such as libs/board/src/data/stories.ts:104. */
  readonly place: string;
  readonly file: string;
  /** The text of the template, with `${}` in place of each value. */
  readonly words: string;
  /** The declared row type; undefined if the statement declares none, because its caller reads no rows. */
  readonly row: ts.Type | undefined;
}

export interface Sources {
  readonly checker: ts.TypeChecker;
  readonly files: readonly string[];
  readonly sites: readonly CallSite[];
  /** Returns the exports of a file, with their types, by name. */
  readonly exportsOf: (file: string) => ReadonlyMap<string, ts.Type>;
}

/** Joins the text pieces of a template with `${}`, which stands for any value. */
export const wordsOf = (pieces: readonly string[]): string => pieces.join('${}');

const isProduct = (file: string): boolean =>
  !/\.spec\.ts$|\/arrange-|^libs\/(testing|client|license-client)\//.test(file);

/**
 * Lists the product's files that write statements. It leaves out the license service, which has its own
 * schema.
 */
export function filesWithStatements(): string[] {
  const listed = execFileSync('git', ['ls-files', ':(glob)libs/*/src/**/*.ts', ':(glob)apps/*/src/**/*.ts'], {
    cwd: repositoryRoot,
    encoding: 'utf8',
  });
  return listed
    .trim()
    .split('\n')
    .filter(
      (file) =>
        isProduct(file) && /\bsql(<|`|\.)/.test(readFileSync(path.join(repositoryRoot, file), 'utf8')),
    )
    .filter((file) => file !== 'libs/driver/src/sql.ts' && !file.startsWith('apps/license-service/'));
}

export function readSources(): Sources {
  const config = ts.getParsedCommandLineOfConfigFile(
    path.join(repositoryRoot, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
      },
    },
  );
  const files = filesWithStatements();
  const program = ts.createProgram({
    rootNames: files.map((file) => path.join(repositoryRoot, file)),
    options: config?.options ?? {},
  });
  const checker = program.getTypeChecker();
  const sourceOf = (file: string): ts.SourceFile => {
    const source = program.getSourceFile(path.join(repositoryRoot, file));
    if (source === undefined) throw new Error(`${file} was not read`);
    return source;
  };
  return {
    checker,
    files,
    sites: files.flatMap((file) => sitesIn(sourceOf(file), file, checker)),
    exportsOf: (file) => {
      const symbol = checker.getSymbolAtLocation(sourceOf(file));
      const exported = symbol === undefined ? [] : checker.getExportsOfModule(symbol);
      return new Map(exported.map((one) => [one.name, checker.getTypeOfSymbol(one)]));
    },
  };
}

function sitesIn(source: ts.SourceFile, file: string, checker: ts.TypeChecker): CallSite[] {
  const sites: CallSite[] = [];
  const walk = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText(source) === 'sql') {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      const row = checker.getTypeArguments(checker.getTypeAtLocation(node) as ts.TypeReference)[0];
      const isRead = row !== undefined && (row.flags & ts.TypeFlags.Unknown) === 0;
      sites.push({
        place: `${file}:${line}`,
        file,
        words: wordsOf(piecesOf(node.template)),
        row: isRead ? row : undefined,
      });
    }
    ts.forEachChild(node, walk);
  };
  walk(source);
  return sites;
}

const piecesOf = (template: ts.TemplateLiteral): string[] =>
  ts.isTemplateExpression(template)
    ? [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)]
    : [template.text];
