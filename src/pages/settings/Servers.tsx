import type { OwnEnvironment } from '../../domain/wire/fleet.ts'
import type { FlashMessage } from '../../ui/FlashAlert.tsx'
import { Environments } from './Environments.tsx'
import { IdleCard } from './IdleCard.tsx'
import { flashAbout, SettingsPage } from './SettingsPage.tsx'

type ServersProps = {
  idleMinutes: number | null
  environments: OwnEnvironment[]
  included: boolean
  csrfToken: string
  flash: FlashMessage | null
}

export function Servers({ idleMinutes, environments, included, csrfToken, flash }: ServersProps) {
  const about = (id: string) => ({ csrfToken, flash: flashAbout(flash, id) })
  return (
    <SettingsPage here="/settings/servers" title="Servers" flash={flash?.values?.about ? null : flash}>
      <IdleCard minutes={idleMinutes} {...about('idle')} />
      <Environments environments={environments} included={included} {...about('environments')} />
    </SettingsPage>
  )
}
