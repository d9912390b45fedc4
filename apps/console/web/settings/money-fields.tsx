/** Fields for amounts of money, which the API counts in millionths of a currency. */
import { budgetTexts } from '../messages/usage.ts';
import { FormField } from './components.tsx';

export const microsPerUnit = 1_000_000;
export const toMicros = (amount: string): number => Math.round(Number(amount) * microsPerUnit);

interface AmountFieldProps {
  readonly name: string;
  readonly hint?: string;
  readonly min: number;
  readonly isOptional?: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export const AmountField = ({ name, hint, min, isOptional = false, value, onChange }: AmountFieldProps) => (
  <FormField name={name} {...(hint !== undefined && { hint })}>
    <input
      className="field"
      type="number"
      inputMode="decimal"
      min={min}
      max={1_000_000_000}
      step="any"
      required={!isOptional}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </FormField>
);

interface CurrencyFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export const CurrencyField = ({ value, onChange }: CurrencyFieldProps) => (
  <FormField name={budgetTexts.currency} hint={budgetTexts.currencyHint}>
    <input
      className="field"
      required
      pattern="[A-Za-z]{3}"
      maxLength={3}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </FormField>
);
