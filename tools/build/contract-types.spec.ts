// Tests that editors show the contract's description at each parameter of the client's types.
import { expect, it } from '@jest/globals';
import { parametersOf } from '@muster/reference';
import { Id } from '@muster/contract';
import { operations } from '@muster/registry';
import ts from 'typescript';
import { contractTypes } from './contract-types.ts';

const idMeaning = Id.meta()?.description ?? '';

it('says what each parameter of each operation means', async () => {
  const source = ts.createSourceFile('contract.d.ts', await contractTypes(), ts.ScriptTarget.Latest, true);
  const words = new Map<string, string>();
  const read = (node: ts.Node, above: readonly string[]): void => {
    const isNamed =
      ts.isPropertySignature(node) && (ts.isIdentifier(node.name) || ts.isStringLiteral(node.name));
    const path = isNamed ? [...above, node.name.text] : above;
    if (isNamed) {
      const tags = ts.getJSDocTags(node).map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '');
      words.set(path.join('.'), tags.join(' '));
    }
    ts.forEachChild(node, (child) => {
      read(child, path);
    });
  };
  read(source, []);
  const missing: string[] = [];
  for (const operation of operations.values()) {
    for (const { name } of parametersOf(operation)) {
      const said = words.get(`schemas.${operation.name} params.${name.replaceAll('[]', '')}`) ?? '';
      // Every ID has this generic description, which says nothing about the parameter.
      if (!/\w/.test(said.replace(idMeaning, ''))) missing.push(`${operation.name}: ${name}`);
    }
  }
  expect(missing).toEqual([]);
});
