/**
 * Makes random values of a TypeScript type. The collector calls functions with such values to see which
 * statements they send.
 */
import ts from 'typescript';
import { type Db, newId, type Pool, type Query, sql } from '@muster/driver';
import { type SignInDb } from '@muster/placement';
import { type Dice } from '@muster/tools';

/** The fakes for the database objects that a function takes as parameters. */
export interface Given {
  readonly db: () => Db;
  readonly pool: () => Pool;
}

const maxDepth = 9;
const { TypeFlags } = ts;

/**
 * Marks the place of a statement fragment that a function takes as a parameter. The specs do not check
 * statements that contain this mark.
 */
export const madeUpMark = '/* made up */';
const madeUp = sql.part`/* made up */ null`;

/**
 * Makes a fake of the sign-in database with several servers. Every server of the fake is the given database.
 */
const signInDb = (db: Db): SignInDb =>
  Object.assign(Object.create(db) as Db, {
    hasNodes: true,
    everywhere: <Row>(source: Parameters<typeof db.all<Row>>[0]) => db.all(source),
    at: <Result>(_orgId: string, work: (there: Db) => Promise<Result>) => work(db),
    organizationOf: async () => newId(),
  });

export class Values {
  readonly #checker: ts.TypeChecker;
  readonly #dice: Dice;
  readonly #given: Given;

  constructor(checker: ts.TypeChecker, dice: Dice, given: Given) {
    this.#checker = checker;
    this.#dice = dice;
    this.#given = given;
  }

  /** Makes the arguments of one call. */
  argumentsOf(signature: ts.Signature): unknown[] {
    return signature
      .getParameters()
      .map((parameter) =>
        this.of(this.#checker.getTypeOfSymbol(parameter), parameter.name, isOptional(parameter)),
      );
  }

  /** Makes a value of the type. The name decides the form of a string. */
  of(type: ts.Type, name = '', mayBeAbsent = false, depth = 0): unknown {
    if (mayBeAbsent && this.#dice.chance(0.5)) return undefined;
    if (type.isUnion()) return this.#ofUnion(type, name, depth);
    if (type.isLiteral()) return type.value;
    const { flags } = type;
    if (flags & TypeFlags.BooleanLiteral) return this.#checker.typeToString(type) === 'true';
    if (flags & TypeFlags.StringLike) return this.#text(name);
    if (flags & TypeFlags.NumberLike) return this.#dice.pick([0, 1, 2, 7]);
    if (flags & TypeFlags.BooleanLike) return this.#dice.chance(0.5);
    if (flags & TypeFlags.Null) return null;
    if (flags & (TypeFlags.Undefined | TypeFlags.Void | TypeFlags.Never)) return undefined;
    if (flags & TypeFlags.TypeParameter) {
      const constraint = this.#checker.getBaseConstraintOfType(type);
      return constraint === undefined ? this.#text(name) : this.of(constraint, name, false, depth);
    }
    if (flags & (TypeFlags.Any | TypeFlags.Unknown)) return this.#text(name);
    if (type.isIntersection() && type.types.some((one) => one.flags & TypeFlags.StringLike))
      return this.#text(name);
    return this.#ofObject(type, name, depth);
  }

  #ofUnion(type: ts.UnionType, name: string, depth: number): unknown {
    const kinds = depth > maxDepth ? type.types.filter((one) => !(one.flags & TypeFlags.Object)) : type.types;
    return this.of(this.#dice.pick(kinds.length === 0 ? type.types : kinds), name, false, depth);
  }

  #text(name: string): string {
    if (/(At|_at|since|until|expires|now|time|^at)$/i.test(name)) return '2026-11-21T09:30:00.100Z';
    if (/key|slug|name|title|text|label|email|rank|version/i.test(name))
      return this.#dice.pick(['WEB-42', '1.0.0']);
    return this.#dice.chance(0.8) ? newId() : 'WEB-42';
  }

  #ofObject(type: ts.Type, name: string, depth: number): unknown {
    const checker = this.#checker;
    const known = type.getSymbol()?.name ?? type.aliasSymbol?.name ?? '';
    if (depth > maxDepth) return null;
    const arguments_ = () => checker.getTypeArguments(type as ts.TypeReference);
    const inner = (index: number) => {
      const one = arguments_()[index];
      return one === undefined ? undefined : this.of(one, name, false, depth + 1);
    };
    if (checker.isTupleType(type)) return arguments_().map((one) => this.of(one, name, false, depth + 1));
    if (checker.isArrayType(type)) return [...new Set(this.#dice.pick([[0], [0, 0]]).map(() => inner(0)))];
    const made: Readonly<Record<string, () => unknown>> = {
      ...{ Db: this.#given.db, Session: this.#given.db, Pool: this.#given.pool },
      SignInDb: () => signInDb(this.#given.db()),
      ...{ Part: () => madeUp, Query: () => madeUp },
      ...{ Buffer: () => Buffer.alloc(32), Uint8Array: () => Buffer.alloc(32), Date: () => new Date(0) },
      Map: () => new Map([[inner(0), inner(1)]]),
      ReadonlyMap: () => new Map([[inner(0), inner(1)]]),
      Set: () => new Set([inner(0)]),
      ReadonlySet: () => new Set([inner(0)]),
      Promise: () => Promise.resolve(inner(0)),
      AbortSignal: () => new AbortController().signal,
    };
    if (Object.hasOwn(made, known)) return made[known]?.();
    if (name === 'queryAllServers')
      return async (query: Query<unknown>) => [await this.#given.db().all(query)];
    const [signature] = type.getCallSignatures();
    if (signature !== undefined)
      return () => this.of(checker.getReturnTypeOfSignature(signature), name, false, depth + 1);
    const value: Record<string, unknown> = {};
    for (const property of checker.getPropertiesOfType(type)) {
      if (property.name.startsWith('__@')) continue;
      const made = this.of(checker.getTypeOfSymbol(property), property.name, isOptional(property), depth + 1);
      if (made !== undefined) value[property.name] = made;
    }
    const indexed = type.getStringIndexType();
    if (indexed !== undefined && Object.keys(value).length === 0)
      value['x'] = this.of(indexed, 'x', false, depth + 1);
    return value;
  }
}

function isOptional(symbol: ts.Symbol): boolean {
  if (symbol.flags & ts.SymbolFlags.Optional) return true;
  const declaration = symbol.valueDeclaration;
  return (
    declaration !== undefined &&
    ts.isParameter(declaration) &&
    (declaration.questionToken ?? declaration.initializer) !== undefined
  );
}
