// An app imports `Daybook` alone: values, schemas and operations come with it.
@_exported public import DaybookFormat
@_exported public import struct DaybookSync.RetrySchedule
