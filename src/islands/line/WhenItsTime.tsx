type Props = { start: boolean; onChange?: (start: boolean) => void }

const CHOICES = [
  {
    start: true,
    label: 'Start it for me',
    hint: 'We start your server right away, even if you’re away. Startup is free; after that, its time counts.',
  },
  {
    start: false,
    label: 'Hold it for me',
    hint: 'We keep it for 5 minutes and email you. Start it before then, or it goes to the next.',
  },
]

/** What we do when it's their turn. */
export function WhenItsTime({ start, onChange }: Props) {
  return (
    <fieldset className="line-choice">
      <legend>When it’s your turn</legend>
      {CHOICES.map((choice) => (
        <label key={choice.label} className="check">
          <input
            type="radio"
            name="start"
            value={String(choice.start)}
            defaultChecked={choice.start === start}
            onChange={() => onChange?.(choice.start)}
          />
          <span>
            {choice.label} <span className="hint">{choice.hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
