/** Prices of models, which apply to agents that report tokens without a cost. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type UsagePrice } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { formatDay } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { formatMicros, priceTexts } from '../messages/usage.ts';
import { Form, FormField, OpenFormButton, Section, useSettingsWrite } from './components.tsx';
import { AmountField, CurrencyField, toMicros } from './money-fields.tsx';
import { pricesQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

function PriceForm({ onClose }: { readonly onClose: () => void }) {
  const { usage } = useClient();
  const [model, setModel] = useState('');
  const [currency, setCurrency] = useState('USD');
  const [validFrom, setValidFrom] = useState('');
  const [prices, setPrices] = useState({ input: '', output: '', cached: '' });
  const { isBusy, run } = useSettingsWrite();
  const save = async (): Promise<boolean> => {
    const { input, output, cached } = prices;
    const isDone = await run(
      () =>
        usage.prices.set({
          ...{ model: model.trim(), currency: currency.trim().toUpperCase() },
          ...{ inputMicros: toMicros(input), outputMicros: toMicros(output) },
          ...(cached !== '' && { cachedMicros: toMicros(cached) }),
          ...(validFrom !== '' && { validFrom }),
        }),
      priceTexts.saved(model.trim()),
    );
    if (isDone) onClose();
    return isDone;
  };
  const price = (field: keyof typeof prices, hint: string) => (
    <AmountField
      name={priceTexts[field]}
      hint={hint}
      min={0}
      isOptional={field === 'cached'}
      value={prices[field]}
      onChange={(value) => setPrices({ ...prices, [field]: value })}
    />
  );
  return (
    <Form submitLabel={texts.save} isBusy={isBusy} onSubmit={save} onCancel={onClose}>
      <div className="form-row">
        <FormField name={priceTexts.model} hint={priceTexts.modelHint}>
          <input
            className="field"
            required
            maxLength={120}
            value={model}
            onChange={({ target }) => setModel(target.value)}
          />
        </FormField>
        <CurrencyField value={currency} onChange={setCurrency} />
        <FormField name={priceTexts.validFrom} hint={priceTexts.validFromHint}>
          <input
            className="field"
            type="date"
            value={validFrom}
            onChange={({ target }) => setValidFrom(target.value)}
          />
        </FormField>
      </div>
      <div className="form-row">
        {price('input', priceTexts.perMillion)}
        {price('output', priceTexts.perMillion)}
        {price('cached', priceTexts.cachedHint)}
      </div>
    </Form>
  );
}

const PriceRow = ({ price }: { readonly price: UsagePrice }) => (
  <tr>
    <th scope="row" className="mono">
      {price.model}
    </th>
    {[price.inputMicros, price.outputMicros, price.cachedMicros].map((micros, nth) => (
      <td key={nth} className="tabular number">
        {formatMicros(micros, price.currency)}
      </td>
    ))}
    <td className="number">{formatDay(price.validFrom)}</td>
    <td className="number">{priceTexts.sources[price.source]}</td>
  </tr>
);

export function Prices() {
  const isAdmin = useIsAdmin();
  const [isMaking, setMaking] = useState(false);
  const { data, error, refetch } = useQuery(pricesQuery(useClient()));
  const heads = [
    ...[priceTexts.input, priceTexts.output, priceTexts.cached, priceTexts.validFrom, priceTexts.source],
  ];
  return (
    <Section
      id="prices"
      title={priceTexts.title}
      intro={priceTexts.intro}
      headerAction={
        isAdmin && !isMaking && <OpenFormButton name={priceTexts.set} onOpen={() => setMaking(true)} />
      }
    >
      {isMaking && <PriceForm onClose={() => setMaking(false)} />}
      {data === undefined ? (
        error === null ? (
          <Loading label={priceTexts.loading} rows={3} />
        ) : (
          <LoadError error={error} onRetry={() => void refetch()} />
        )
      ) : data.length === 0 ? (
        <EmptyState title={priceTexts.empty}>
          <p>{priceTexts.emptyWhy}</p>
        </EmptyState>
      ) : (
        <div className="wide" tabIndex={0} role="region" aria-label={priceTexts.table}>
          <table className="table table-slim">
            <thead>
              <tr>
                <th scope="col">{priceTexts.model}</th>
                {heads.map((head) => (
                  <th key={head} scope="col" className="number">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.map((price) => (
                <PriceRow
                  key={`${price.model} ${price.currency} ${price.validFrom} ${price.source}`}
                  price={price}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
