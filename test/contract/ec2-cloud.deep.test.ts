import { ensureLaunchTemplate } from '../../dev/launch-template.ts'
import { deployAccount } from '../../testing/stack/deployed-account.ts'
import { moto, startMoto } from '../../testing/stack/moto.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'
import { cloudSuite } from './ec2-cloud.ts'

const launchTemplate = 'proving-ground'

cloudSuite(
  'moto',
  async () => {
    const server = await startMoto()
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
    await ensureLaunchTemplate({ endpoint: server.endpoint, region: 'us-east-1', credentials }, launchTemplate)
    return { ...server, launchTemplate }
  },
  // moto stores client tokens, but launches again anyway.
  { idempotentTokens: false, skip: isSkipped(moto) },
)

cloudSuite(
  'moto with the account of infra/, and permissions enforced',
  async () => {
    const server = await startMoto()
    const { key, templates, enforce } = await deployAccount(server.endpoint, ['a'])
    await enforce()
    return { ...server, key, launchTemplate: templates.a ?? '' }
  },
  { idempotentTokens: false, skip: isSkipped(moto) },
)
