/** Compares a declared row type with the columns that Postgres describes. */
import ts from 'typescript';
import { type Column } from './describe.ts';

/** The type of a column in the schema, as far as reading its values depends on it. */
export interface Stored {
  /** The Postgres type name, such as text, _uuid or int4. */
  readonly type: string;
  /** Is true if the table's column can be null. */
  readonly isNullable: boolean;
}

const { TypeFlags } = ts;
const flagsByType: Readonly<Record<string, number>> = {
  ...{ text: TypeFlags.StringLike, varchar: TypeFlags.StringLike, uuid: TypeFlags.StringLike },
  ...{ timestamptz: TypeFlags.StringLike, date: TypeFlags.StringLike, numeric: TypeFlags.StringLike },
  ...{ int2: TypeFlags.NumberLike, int4: TypeFlags.NumberLike, int8: TypeFlags.NumberLike },
  ...{ float4: TypeFlags.NumberLike, float8: TypeFlags.NumberLike, bool: TypeFlags.BooleanLike },
};

export interface Difference {
  readonly column: string;
  readonly kind: 'missing' | 'null' | 'type';
  readonly says: string;
}

/** Lists the differences. The list is empty if the declared row type matches what Postgres sends. */
export function differences(
  checker: ts.TypeChecker,
  row: ts.Type,
  columns: readonly Column[],
  storedOf: (column: Column) => Stored,
): Difference[] {
  const declared = new Map(checker.getPropertiesOfType(row).map((property) => [property.name, property]));
  const sent = new Map(columns.map((column) => [column.name, column]));
  const found: Difference[] = [];
  for (const [name, property] of declared) {
    const column = sent.get(name);
    const type = checker.getTypeOfSymbol(property);
    if (column !== undefined) found.push(...wrongType(checker, name, type, storedOf(column)));
    else if ((property.flags & ts.SymbolFlags.Optional) === 0)
      found.push({ column: name, kind: 'missing', says: `${name} is declared, and no column` });
  }
  return found;
}

const isVague = (type: ts.Type): boolean => (type.flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0;

function wrongType(checker: ts.TypeChecker, name: string, declared: ts.Type, stored: Stored): Difference[] {
  if (isVague(declared)) return [];
  const all = declared.isUnion() ? declared.types : [declared];
  const types = all.filter((type) => (type.flags & (TypeFlags.Null | TypeFlags.Undefined)) === 0);
  const said = checker.typeToString(declared);
  if (stored.isNullable && types.length === all.length)
    return [{ column: name, kind: 'null', says: `${name} can be null, and is declared ${said}` }];
  const isArray = stored.type.startsWith('_');
  const fits = (type: ts.Type): boolean => {
    if (isArray !== checker.isArrayType(type)) return !isArray && flagsByType[stored.type] === undefined;
    const one = isArray ? checker.getTypeArguments(type as ts.TypeReference)[0] : type;
    const flags = flagsByType[isArray ? stored.type.slice(1) : stored.type];
    if (one === undefined || flags === undefined) return true;
    const parts = one.isUnion() ? one.types : [one];
    return parts.every((part) => isVague(part) || (part.flags & (flags | TypeFlags.Null)) !== 0);
  };
  return types.every(fits)
    ? []
    : [{ column: name, kind: 'type', says: `${name} is ${stored.type}, and declared ${said}` }];
}
