# Calls the functions of a Ruby recipe, as requested by lines of JSON.
require 'json'
require_relative 'recipe'

def perform(told)
  { result: send(told['call'], *arguments(told)) }
rescue StandardError => e
  { error: e.inspect, ended: ended(e) }
end

# Converts the keys for `disconnect` to symbols: tokens may come from to_hash of newer versions, or from stored JSON.
def arguments(told)
  told['call'] == 'disconnect' ? told['args'].map { |tokens| tokens.transform_keys(&:to_sym) } : told['args']
end

$stdin.each_line do |line|
  puts JSON.generate(perform(JSON.parse(line)))
  $stdout.flush
end
