/**
 * Components shared by all settings: a section, a list with its states, a form, an action with a
 * confirmation.
 */
import { type UseQueryResult } from '@tanstack/react-query';
import { cloneElement, type ReactElement, type ReactNode, useId, useRef, useState } from 'react';
import { useFormFocus } from '../components/focus.ts';
import { showNotice } from '../components/notices.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { useWriteCall, type WriteCall } from '../components/write.ts';
import { t } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';

interface SectionProps {
  readonly id: string;
  readonly title: string;
  readonly intro?: string;
  readonly headerAction?: ReactNode;
  readonly children: ReactNode;
}

export const Section = ({ id, title, intro, headerAction, children }: SectionProps) => (
  <section className="set" aria-labelledby={id}>
    <header className="set-head">
      <div className="grow">
        <h2 id={id}>{title}</h2>
        {intro !== undefined && <p className="muted">{intro}</p>}
      </div>
      {headerAction}
    </header>
    {children}
  </section>
);

interface QueryListProps<Item> {
  readonly query: Pick<UseQueryResult<readonly Item[]>, 'data' | 'error'> & {
    readonly refetch: () => Promise<unknown>;
  };
  readonly emptyTitle: string;
  readonly emptyWhy?: string;
  readonly children: (item: Item) => ReactNode;
}

/** A list in each of its states: loading, failed, empty, loaded. */
export function QueryList<Item>({ query, emptyTitle, emptyWhy, children }: QueryListProps<Item>) {
  const { data, error } = query;
  if (data === undefined && error !== null)
    return <LoadError error={error} onRetry={() => void query.refetch()} />;
  if (data === undefined) return <Loading label={texts.loading} rows={3} />;
  if (data.length === 0)
    return (
      <EmptyState title={emptyTitle}>{emptyWhy === undefined ? undefined : <p>{emptyWhy}</p>}</EmptyState>
    );
  return <ul className="rows">{data.map(children)}</ul>;
}

interface ListItemProps {
  readonly leadingElement?: ReactNode;
  readonly title: ReactNode;
  readonly details?: ReactNode;
  readonly children?: ReactNode;
}

/** A row of a list: title, facts and actions. */
export const ListItem = ({ leadingElement, title, details, children }: ListItemProps) => (
  <li className="row set-row">
    {leadingElement !== undefined && <span className="row-lead">{leadingElement}</span>}
    <div className="row-words">
      <p className="row-line">{title}</p>
      {details !== undefined && <div className="row-fact">{details}</div>}
    </div>
    {children !== undefined && <div className="set-acts">{children}</div>}
  </li>
);

/** A number with its name, in a list with the class `figures`. */
export const LabeledFigure = ({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ReactNode;
}) => (
  <div className="figure">
    <dt className="muted">{name}</dt>
    <dd className="tabular">{children}</dd>
  </div>
);

/** Joins the facts about one thing with dots, and skips empty ones. */
export const joinFacts = (...facts: readonly (string | false | null | undefined)[]): string =>
  facts.filter((fact) => typeof fact === 'string' && fact !== '').join(' · ');

/** Returns a function that writes and then refetches all settings, and the further queries with these keys. */
export function useSettingsWrite(...otherKeys: readonly string[]): {
  readonly isBusy: boolean;
  readonly run: WriteCall;
} {
  const write = useWriteCall({
    queryKeys: [['settings'], ...otherKeys.map((key) => [key])],
    failureTitle: texts.failed,
    conflictMessage: texts.changedMeanwhile,
  });
  const [isBusy, setBusy] = useState(false);
  const run: WriteCall = async (work, done) => {
    setBusy(true);
    return write(() => work().finally(() => setBusy(false)), done);
  };
  return { isBusy, run };
}

interface FormFieldProps {
  readonly name: string;
  readonly hint?: string;
  /** The error message for the field's content, shown in place of the hint. */
  readonly errorMessage?: string | undefined;
  readonly children: ReactElement<{
    id?: string;
    'aria-describedby'?: string | undefined;
    'aria-invalid'?: true | undefined;
  }>;
}

/** A field with its label and a hint. */
export function FormField({ name, hint, errorMessage, children }: FormFieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div className="label">
      <label htmlFor={id}>{name}</label>
      {cloneElement(children, {
        id,
        'aria-describedby': hint === undefined && errorMessage === undefined ? undefined : hintId,
        'aria-invalid': errorMessage === undefined ? undefined : true,
      })}
      {errorMessage !== undefined ? (
        <span id={hintId} className="hint form-error" role="alert">
          {errorMessage}
        </span>
      ) : (
        hint !== undefined && (
          <span id={hintId} className="hint">
            {hint}
          </span>
        )
      )}
    </div>
  );
}

/** A select with a few labeled options. */
export function SelectField<Value extends string>({
  label,
  value,
  optionLabels,
  isHidden = false,
  disabled = false,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly optionLabels: Readonly<Record<Value, string>>;
  /** True if only screen readers see the label. */
  readonly isHidden?: boolean;
  readonly disabled?: boolean;
  readonly onChange: (value: Value) => void;
}) {
  const select = (
    <select
      className="field"
      value={value}
      disabled={disabled}
      aria-label={isHidden ? label : undefined}
      onChange={({ target }) => onChange(target.value as Value)}
    >
      {(Object.keys(optionLabels) as Value[]).map((one) => (
        <option key={one} value={one}>
          {optionLabels[one]}
        </option>
      ))}
    </select>
  );
  return isHidden ? select : <FormField name={label}>{select}</FormField>;
}

interface FormProps {
  readonly submitLabel: string;
  readonly isBusy: boolean;
  /** True if everything was saved. */
  readonly onSubmit: () => Promise<boolean>;
  /**
   * Closes the form. Pass this callback only for a form that a button opened. The form's first field then
   * gets the focus, and the button gets it back when the form closes.
   */
  readonly onCancel?: () => void;
  /** True if a part of the form that is not a field, such as an editor, has unsaved changes. */
  readonly hasUnsavedText?: boolean;
  readonly children: ReactNode;
}

/** A form that keeps its state until its action is done. The component that opened it closes it. */
export function Form({
  submitLabel,
  isBusy,
  onSubmit,
  onCancel,
  hasUnsavedText = false,
  children,
}: FormProps) {
  const form = useFormFocus(onCancel !== undefined);
  const [isDirty, setDirty] = useState(false);
  const askFirst = useLeaveConfirmation(isDirty || hasUnsavedText);
  const inputs = useRef(0);
  const submit = async (): Promise<void> => {
    const sent = inputs.current;
    // Text that was typed during the save is not saved yet.
    if ((await onSubmit()) && inputs.current === sent) setDirty(false);
  };
  return (
    <form
      ref={form}
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
      onInput={() => {
        inputs.current += 1;
        setDirty(true);
      }}
    >
      {children}
      <div className="form-foot">
        <button type="submit" className="button" data-kind="main" disabled={isBusy}>
          {submitLabel}
        </button>
        {onCancel !== undefined && (
          <button type="button" className="button" onClick={() => askFirst(onCancel)}>
            {t.cancel}
          </button>
        )}
      </div>
    </form>
  );
}

/**
 * A button that copies a value and confirms it. If the page may not copy, as over plain http, it selects the
 * value next to it.
 */
export function CopyButton({ name, value }: { readonly name: string; readonly value: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (button: HTMLElement): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setCopied(true);
    } catch {
      const shown = [...(button.parentElement?.querySelectorAll('code') ?? [])];
      const code = shown.find(({ textContent }) => textContent === value);
      if (code !== undefined) getSelection()?.selectAllChildren(code);
      showNotice({ tone: 'warn', title: texts.notCopied, body: texts.notCopiedWhy });
    }
  };
  return (
    <button type="button" className="button" onClick={({ currentTarget }) => void copy(currentTarget)}>
      {isCopied ? texts.copied : texts.copy}
      <span className="sr-only"> {name}</span>
    </button>
  );
}

interface OneTimeSecretsProps {
  readonly title: string;
  readonly values: readonly (readonly [name: string, value: string])[];
  readonly onClose: () => void;
}

/** A value that is shown only once, with a copy button. */
export const OneTimeSecrets = ({ title, values, onClose }: OneTimeSecretsProps) => (
  <div className="once" role="status">
    <strong>{title}</strong>
    {values.map(([name, value]) => (
      <div key={name} className="once-value">
        <span className="muted">{name}</span>
        <code>{value}</code>
        <CopyButton name={name} value={value} />
      </div>
    ))}
    <div className="form-foot">
      <span className="muted grow">{texts.once}</span>
      <button type="button" className="button" onClick={onClose}>
        {t.close}
      </button>
    </div>
  </div>
);

/** A button that opens a form in its place, in the header of a section. */
export const OpenFormButton = ({ name, onOpen }: { readonly name: string; readonly onOpen: () => void }) => (
  <button type="button" className="button" data-kind="main" onClick={onOpen}>
    {name}
  </button>
);
