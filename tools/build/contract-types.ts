/** Generates one file with the types of `@muster/registry` that clients use, for programs without zod. */
import { type JsonFields, toParamsSchema, toComponentSchema } from '@muster/reference';
import { ErrorBody, isOperation, type Operation, reasons } from '@muster/contract';
import { operations, registry } from '@muster/registry';
import openapiTypes, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { z } from 'zod';

const paramsOf = ({ name }: Operation): string => `${name} params`;
const resultOf = ({ name }: Operation): string => `${name} result`;
const typeAt = (schema: string): string => `components['schemas'][${JSON.stringify(schema)}]`;

/** Types that are not schemas in the registry, under the names that they have there. */
const around = `
export type ErrorBody = ${typeAt('Error')};
export type ErrorCode = ErrorBody['code'];
export type ErrorReason = ${Object.keys(reasons)
  .map((reason) => JSON.stringify(reason))
  .join(' | ')};
export interface Operation<Effect = 'read' | 'write', Params = unknown, Result = unknown> {
  readonly name: string;
  readonly effect: Effect;
  readonly params: Params;
  readonly result: Result;
}
export type InputOf<O extends Operation> = O['params'];
export type ResultOf<O extends Operation> = O['result'];`;

function operationText(operation: Operation): string {
  const { summary, description, effect } = operation;
  const words = `${summary}. ${description}`.replaceAll('*/', '*\\/');
  const type = `Operation<'${effect}', ${typeAt(paramsOf(operation))}, ${typeAt(resultOf(operation))}>`;
  return `/** ${words} */\nreadonly ${operation.name.slice(operation.namespace.length + 1)}: ${type};`;
}

const namespaceText = (namespace: object): string =>
  Object.entries(namespace)
    .map(([word, node]: [string, object]) =>
      isOperation(node) ? operationText(node) : `readonly ${word}: { ${namespaceText(node)} };`,
    )
    .join('\n');

/**
 * Adds `undefined` to the type of an optional property, as the contract allows. Compilers with
 * exactOptionalPropertyTypes distinguish the two.
 */
function orUndefined(property: ts.PropertySignature): ts.PropertySignature {
  const { modifiers, name, questionToken, type } = property;
  if (questionToken === undefined || type === undefined) return property;
  const nothing = ts.factory.createKeywordTypeNode(ts.SyntaxKind.UndefinedKeyword);
  const either = ts.factory.createUnionTypeNode([type, nothing]);
  return ts.factory.updatePropertySignature(property, modifiers, name, questionToken, either);
}

/**
 * Returns a module of declarations: the records under their own names, and the registry with parameters and
 * results.
 */
export async function contractTypes(): Promise<string> {
  const records: JsonFields = {};
  const calls: JsonFields = {};
  toComponentSchema(records, z.object({ error: ErrorBody }), 'output');
  for (const operation of operations.values()) {
    calls[paramsOf(operation)] = toParamsSchema(records, operation);
    calls[resultOf(operation)] = toComponentSchema(records, operation.result, 'output');
  }
  const document = JSON.stringify({
    ...{ openapi: '3.1.0', info: { title: 'Muster', version: '1' }, paths: {} },
    components: { schemas: { ...records, ...calls } },
  });
  // A call may omit a field that has a default value. Results always have the field, and their schemas say
  // so.
  const types = await openapiTypes(document, { defaultNonNullable: false, transformProperty: orUndefined });
  const schemas = types.filter((node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components');
  const names = Object.keys(records).filter((name) => name !== 'Error');
  return [
    '/** What the API takes and what it answers, made from its contract. */',
    astToString(schemas),
    ...names.map((name) => `export type ${name} = ${typeAt(name)};`),
    around,
    `export interface Registry { ${namespaceText(registry)} }`,
  ].join('\n');
}
