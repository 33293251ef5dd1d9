import type { ReactNode } from 'react'
import { sizeText } from '../../domain/files.ts'
import { STOP_AFTER_DAYS } from '../../domain/money/invoice.ts'
import { BASIC, OVERAGE_DOLLARS_PER_HOUR, PAYMENT_DAYS, PREMIUM, TRIAL_MINUTES } from '../../domain/money/plan.ts'
import { FILES_KEPT_DAYS, FILES_LIMIT, FILES_OVER_DAYS } from '../../domain/money/plan-files.ts'

type Question = [question: string, answer: ReactNode]

const FILES: Question[] = [
  [
    'Do I lose my work when a server stops?',
    'No. What is in /data on a server is in your files: your next server has it, and you can download it at any time. We erase the rest of the disk, and never reuse it. If a machine fails, you can lose what it wrote in its last seconds, and a stop waits at most 2 minutes for the last uploads.',
  ],
  [
    'What counts as synthetic data?',
    `Your files: what you upload and what your servers keep. The trial includes ${sizeText(FILES_LIMIT.demo ?? 0)}, ${BASIC.name} ${sizeText(FILES_LIMIT.basic ?? 0)}, and ${PREMIUM.name} any amount, at no extra cost. When it's full, we refuse uploads. After you switch to a smaller plan, what it doesn't include stays for ${FILES_OVER_DAYS} days. After a plan ends, you can read them for ${FILES_KEPT_DAYS} days.`,
  ],
]
/** For sites on which servers keep no files. */
const LOST: Question = [
  'Do I lose my work when a server stops?',
  'Yes. We erase its disk, so first download anything you want to keep. We never reuse that disk.',
]

const questions = (filesStay: boolean): Question[] => [
  [
    'When does the meter run?',
    'From the second your server first answers until the second you stop it. Startup, shutdown, and failed starts are free.',
  ],
  [
    'What happens when my included hours are used up?',
    `Your server keeps running at $${OVERAGE_DOLLARS_PER_HOUR} an hour, billed by the second. Hours you don't use don't carry over.`,
  ],
  [
    'What does the trial include?',
    `${TRIAL_MINUTES} minutes of server time, once, with no card. When they are used up, we stop your server and you owe nothing.`,
  ],
  [
    'What happens if I forget to stop my server?',
    'We stop it at the time you choose on the dashboard (at first, after 4 hours), and email you 10 minutes before. You can also set a monthly budget, and have us stop idle servers. With no end set, it runs and costs money until you stop it, and we email you each day.',
  ],
  ...(filesStay ? FILES : [LOST]),
  [
    'Can I switch or cancel my plan?',
    `You can cancel any time; your plan then runs to the end of its month. To switch between ${BASIC.name} and ${PREMIUM.name}, see Subscriptions once you're signed in.`,
  ],
  [
    'When do I pay?',
    `You pay for a plan at the start of its month. We invoice extra hours at its end, due within ${PAYMENT_DAYS} days. If you let us, we charge your card for them, and email you a day before. While an invoice is overdue, you can't start servers, and after ${STOP_AFTER_DAYS} days we stop any that is running.`,
  ],
  [
    'Which environments can I start today?',
    'Every plan and the free trial include Blocks, Neighborhood, and Mountains. We add more as they are finished: once you are signed in, Subscriptions lists each one with the plan that includes it, before you pay.',
  ],
  [
    'How many servers can I run?',
    <>
      One at a time. Need more? <a href="/contact_sales">Tell us</a> what you have in mind.
    </>,
  ],
]

export function Questions({ filesStay }: { filesStay: boolean }) {
  return (
    <section aria-labelledby="questions">
      <h2 id="questions">Questions</h2>
      <div className="questions">
        {questions(filesStay).map(([question, answer]) => (
          <details key={question} name="question">
            <summary>{question}</summary>
            <p>{answer}</p>
          </details>
        ))}
      </div>
    </section>
  )
}
