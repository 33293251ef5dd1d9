import { CreateLaunchTemplateCommand, DescribeImagesCommand, EC2Client } from '@aws-sdk/client-ec2'
import { moto, startMoto } from '../../testing/stack/moto.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'
import { ec2ProtocolSuite } from './ec2-protocol.ts'

// Where moto 5.2.5 differs from what AWS documents. A row that is no longer true fails, and is then to be deleted.
const deviations = {
  // It stores client tokens and describes them, but launches anew whatever they say.
  'answers the same token and parameters with the same instance': 'launches a second instance',
  'refuses the same token with other parameters': 'launches a second instance',
  'refuses the token of a terminated instance': 'launches a second instance',
  // An exception inside moto comes out as a page of HTML.
  'refuses a filter that it does not know': 'answers 500 and HTML',
  'refuses pages of fewer than five': 'gives a page of four',
  'says that an id is malformed': 'answers InvalidInstanceID.NotFound',
  // It names the current state of every instance in the answer shutting-down.
  'terminates a second time without complaint': 'says that the terminated instance is shutting down',
  // It reads neither MaxResults nor NextToken here.
  'gives a status in pages': 'gives all on one page',
}

ec2ProtocolSuite('EC2 protocol: moto', {
  deviations,
  skip: isSkipped(moto),
  async start() {
    const server = await startMoto()
    const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' }
    const ec2 = new EC2Client({ endpoint: server.endpoint, region: 'us-east-1', maxAttempts: 1, credentials })
    const { Images } = await ec2.send(new DescribeImagesCommand({ Owners: ['amazon'] }))
    const ImageId = Images?.[0]?.ImageId
    if (!ImageId) throw new Error('moto offers no image to launch.')
    const LaunchTemplateName = 'simulator'
    const LaunchTemplateData = { ImageId }
    await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName, LaunchTemplateData }))
    ec2.destroy()
    return { ...server, launch: { LaunchTemplate: { LaunchTemplateName, Version: '1' } } }
  },
})
