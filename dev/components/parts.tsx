import { Alert, type AlertKind } from '../../src/ui/Alert.tsx'
import { Badge, type BadgeColor } from '../../src/ui/Badge.tsx'
import { Button, ButtonLink } from '../../src/ui/Button.tsx'
import { Card } from '../../src/ui/Card.tsx'
import { FlashAlert } from '../../src/ui/FlashAlert.tsx'
import { HiddenFields } from '../../src/ui/HiddenFields.tsx'
import { Icon, type IconName, Outline } from '../../src/ui/Icon.tsx'
import { PasskeyButton } from '../../src/ui/PasskeyButton.tsx'
import { Secret } from '../../src/ui/Secret.tsx'
import { WhoMayEnter } from '../../src/ui/WhoMayEnter.tsx'
import { nothing, type Specimen } from './specimen.ts'

const KINDS: AlertKind[] = ['danger', 'success', 'info', 'warning']
const COLORS: BadgeColor[] = ['green', 'gray', 'yellow', 'red', 'dark']
const WORDS: Record<BadgeColor, string> = {
  green: 'running',
  gray: 'stopped',
  yellow: 'provisioning',
  red: 'error',
  dark: 'unknown',
}
const ICONS: IconName[] = ['check', 'circle-alert', 'circle-check', 'copy', 'info', 'play', 'triangle-alert', 'x']
const LONG = "The server was not ready within 10 minutes. You weren't charged. Start another one, or contact us."

export const PARTS: Specimen[] = [
  {
    name: 'Alert',
    file: 'src/ui/Alert.tsx',
    states: {
      ...Object.fromEntries(
        KINDS.map((kind) => [
          kind,
          <Alert key={kind} kind={kind}>
            Something you should know.
          </Alert>,
        ]),
      ),
      ...Object.fromEntries(
        KINDS.map((kind) => [
          `${kind}, dismissible`,
          <Alert key={kind} kind={kind} dismissible>
            {LONG}
          </Alert>,
        ]),
      ),
    },
  },
  {
    name: 'FlashAlert',
    file: 'src/ui/FlashAlert.tsx',
    states: {
      success: <FlashAlert flash={{ kind: 'success', message: 'Profile updated successfully!' }} />,
      danger: <FlashAlert flash={{ kind: 'danger', message: 'Invalid email or password.' }} />,
      'no message': <FlashAlert flash={null} />,
    },
  },
  {
    name: 'PasskeyButton',
    file: 'src/ui/PasskeyButton.tsx',
    states: { 'before its script runs': <PasskeyButton does="sign_in">Sign in with a passkey</PasskeyButton> },
  },
  {
    name: 'Secret',
    file: 'src/ui/Secret.tsx',
    states: {
      'in an alert, the button comes with the script': (
        <Alert kind="success">
          Your new token is ready.
          <Secret>pg_d19yVC22cnsu4noXDrpqz3ec3g6YZU2iQK7z</Secret>
        </Alert>
      ),
    },
  },
  {
    name: 'Badge',
    file: 'src/ui/Badge.tsx',
    states: Object.fromEntries(
      COLORS.map((color) => [
        color,
        <Badge key={color} color={color}>
          {WORDS[color]}
        </Badge>,
      ]),
    ),
  },
  {
    name: 'Button',
    file: 'src/ui/Button.tsx',
    states: {
      default: <Button>Refresh</Button>,
      primary: (
        <Button look="primary">
          <Icon name="play" /> Start Server
        </Button>
      ),
      danger: <Button look="danger">Stop</Button>,
      plain: <Button look="plain">Not now</Button>,
      small: <Button small>Retry</Button>,
      disabled: (
        <span className="row">
          <Button disabled>Request More Servers</Button>
          <Button look="primary" disabled>
            Start Server
          </Button>
          <Button look="danger" disabled small>
            Stop
          </Button>
        </span>
      ),
      busy: (
        <Button look="primary" disabled aria-busy>
          Signing in...
        </Button>
      ),
    },
  },
  {
    name: 'ButtonLink',
    file: 'src/ui/Button.tsx',
    states: {
      'default, primary, small': (
        <span className="row">
          <ButtonLink href="#ButtonLink">Billing History</ButtonLink>
          <ButtonLink href="#ButtonLink" look="primary">
            Contact sales
          </ButtonLink>
          <ButtonLink href="#ButtonLink" small>
            Open
          </ButtonLink>
        </span>
      ),
    },
  },
  {
    name: 'Card',
    file: 'src/ui/Card.tsx',
    states: {
      'with a title': (
        <Card title="Profile">
          <p>The card's content.</p>
        </Card>
      ),
      'with a badge': (
        <Card title="Billing" aside={<Badge color="yellow">Due</Badge>}>
          <p>The card's content.</p>
        </Card>
      ),
      'without a title': (
        <Card>
          <p>The card's content.</p>
        </Card>
      ),
    },
  },
  {
    name: 'WhoMayEnter',
    file: 'src/ui/WhoMayEnter.tsx',
    states: {
      'only you': <WhoMayEnter untils={[]} now={0} />,
      guests: <WhoMayEnter untils={['2026-11-21T18:00:00Z']} now={Date.UTC(2026, 10, 21)} />,
    },
  },
  {
    name: 'Icon',
    file: 'src/ui/Icon.tsx',
    states: Object.fromEntries(ICONS.map((name) => [name, <Icon key={name} name={name} size={20} />])),
  },
  {
    name: 'Outline',
    file: 'src/ui/Icon.tsx',
    states: {
      'any path': <Outline path="M4 20 12 4l8 16Z" size={20} />,
    },
  },
  {
    name: 'HiddenFields',
    file: 'src/ui/HiddenFields.tsx',
    states: {
      'in a form: two hidden inputs, nothing visible': (
        <form action="#HiddenFields" onSubmit={nothing}>
          <HiddenFields csrfToken="token" method="put" />
        </form>
      ),
    },
  },
]
