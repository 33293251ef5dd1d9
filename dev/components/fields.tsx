import { Checkbox, Field, PasswordField, Select, TextArea } from '../../src/ui/Field.tsx'
import { nothing, type Specimen } from './specimen.ts'

const file = 'src/ui/Field.tsx'
const OPTIONS = ['Google Search', 'Social Media', 'Referral']

export const FIELDS: Specimen[] = [
  {
    name: 'Field',
    file,
    states: {
      empty: <Field name="a" label="Name" />,
      filled: <Field name="a" label="Name" defaultValue="Ada Lovelace" />,
      'with a hint': <Field name="a" label="Name" hint="Shown on your invoices." />,
      invalid: <Field name="a" label="Name" error="Name is required" />,
      'invalid, with a hint': (
        <Field name="a" label="Name" hint="50 characters at most." error="Name cannot exceed 50 characters" />
      ),
      'covered by an error about several fields': (
        <div className="stack">
          <p id="blame">All fields are required.</p>
          <Field name="a" label="Name" blamedBy="blame" />
        </div>
      ),
      'read-only': <Field name="a" label="Email" defaultValue="ada@example.com" readOnly />,
      disabled: <Field name="a" label="Name" disabled />,
    },
  },
  {
    name: 'TextArea',
    file,
    states: {
      'empty, with a counter': <TextArea name="a" label="Message" rows={4} hint="0/2000" />,
      filled: <TextArea name="a" label="Message" rows={4} defaultValue="We fly 40 vehicles at once." />,
      invalid: <TextArea name="a" label="Message" rows={4} error="Message is required" hint="0/2000" />,
    },
  },
  {
    name: 'Select',
    file,
    states: {
      'nothing selected': <Select name="a" label="Source" options={OPTIONS} placeholder="Choose one…" />,
      selected: <Select name="a" label="Source" options={OPTIONS} defaultValue="Referral" />,
      invalid: (
        <Select name="a" label="Source" options={OPTIONS} placeholder="Choose one…" error="Please select an option" />
      ),
    },
  },
  {
    name: 'PasswordField',
    file,
    states: {
      'without script': <PasswordField name="a" label="Password" autoComplete="current-password" />,
      'filled, hidden': (
        <PasswordField
          name="a"
          label="Password"
          autoComplete="current-password"
          defaultValue="simulate"
          onToggle={nothing}
        />
      ),
      'filled, shown': (
        <PasswordField
          name="a"
          label="Password"
          autoComplete="current-password"
          defaultValue="simulate"
          onToggle={nothing}
          shown
        />
      ),
      'invalid, with a hint': (
        <PasswordField
          name="a"
          label="New password"
          autoComplete="new-password"
          hint="At least 6 characters."
          error="New password must be at least 6 characters."
          onToggle={nothing}
        />
      ),
    },
  },
  {
    name: 'Checkbox',
    file,
    states: {
      unchecked: <Checkbox name="a" label="I accept the Terms of Service" />,
      checked: <Checkbox name="a" label="I accept the Terms of Service" defaultChecked />,
      invalid: (
        <Checkbox name="a" label="I accept the Terms of Service" error="You must accept the Terms of Service." />
      ),
    },
  },
]
